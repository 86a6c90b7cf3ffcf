package outside

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// sight is a path as it is now.
type sight struct {
	Entry
	stat    index.Stat
	content []byte // or a link's text
	alone   bool   // no directory is there that would hold the path
}

// Reasons why a path is not saved.
const (
	leftLarge   = "too large"
	leftTotal   = "too much for one call"
	leftSecret  = "it may hold a secret"
	leftKey     = "it holds a private key"
	leftSpecial = "neither a file nor a link"
	leftBelow   = "it lies below a link or a file"
	leftMoving  = "it changes while it is read"
	leftNever   = "the setting never"
	leftPurged  = "it was purged"
	leftName    = "such names are not written"
	leftDir     = "a directory"
)

// unseen reports whether a path belongs to the system and holds no real file. Shared memory is a file system
// like others.
func unseen(path string) bool {
	return realpath.Within(path, "/proc") || realpath.Within(path, "/sys") || realpath.Within(path, "/dev") && !realpath.Within(path, "/dev/shm")
}

// Place returns a path as records have it: absolute, with the symlinks of its directories resolved. It
// is "" for a path of the system that holds no file.
func Place(path string) string {
	path = filepath.Clean(path)
	if !filepath.IsAbs(path) || strings.IndexByte(path, 0) >= 0 || runtime.GOOS == "windows" && strings.HasPrefix(path, `\\`) {
		return ""
	}
	path = resolved(path)
	if _, rel := split(path); rel == "" || unseen(path) {
		return ""
	}
	return path
}

// Absolute makes a path from a root, with '/', absolute.
func Absolute(root, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

// resolved resolves the symlinks of the directories above a path that exist.
func resolved(path string) string {
	rest := filepath.Base(path)
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// split returns the top of a path's file system and the path from there, with '/'.
func split(path string) (top, rel string) {
	top = filepath.VolumeName(path) + string(filepath.Separator)
	return top, filepath.ToSlash(strings.TrimPrefix(path, top))
}

// readSight reads a path of at most so many bytes. Left says why it could not.
func readSight(path string, most int64) sight {
	s := sight{Entry: Entry{Path: state.Path(path)}}
	top, rel := split(path)
	if apply.CheckPath(rel) != nil {
		s.Left = leftName
		return s
	}
	reached := false
	parent := strings.Count(rel, "/")
	err := dir.Descend(top, rel, func(h *dir.Handle, at, name string) (bool, error) {
		if strings.Count(at, "/") < parent {
			return true, nil
		}
		reached = true
		return false, s.read(h, name, most)
	})
	if err == nil {
		return s
	}
	if dir.Classify(err) == dir.Gone || errors.Is(err, fs.ErrNotExist) {
		s.alone = !reached
		return s
	}
	s.clear()
	if dir.Classify(err) == dir.Replaced && !reached {
		s.Left = leftBelow
	}
	s.Left = cmp.Or(s.Left, "it cannot be read: "+dir.Cause(err).Error())
	return s
}

func (s *sight) clear() {
	*s = sight{Entry: Entry{Path: s.Path, Left: s.Left}}
}

// read reads the name in a directory.
func (s *sight) read(h *dir.Handle, name string, most int64) error {
	info, err := h.Lstat(dir.ListedName(name))
	if err != nil {
		return err
	}
	switch {
	case info.Mode == object.Symlink:
		text, err := h.Readlink(name)
		if err != nil {
			return err
		}
		s.set(info, []byte(filepath.ToSlash(text)))
		return nil
	case info.Mode == object.Dir:
		s.Left = leftDir
	case !info.Mode.IsFile():
		s.Left = leftSpecial
	case info.Stat.Size > most:
		s.Left = leftLarge
	default:
		return s.readFile(h, name, most)
	}
	return nil
}

func (s *sight) set(info dir.Info, content []byte) {
	s.Mode, s.stat, s.content = info.Mode, info.Stat, content
	if info.Mode.IsFile() {
		s.Perm = state.Octal(info.Perm)
	}
	s.ID = object.Sum(object.Blob, content).String()
}

// readFile reads a file until its stat is the same before and after, a few times at most.
func (s *sight) readFile(h *dir.Handle, name string, most int64) error {
	for range 3 {
		f, err := h.OpenFile(name)
		if err != nil {
			return err
		}
		before, content, after, err := readSteady(f, most)
		f.Close()
		if err != nil {
			return err
		}
		switch {
		case !before.Mode.IsFile():
			s.Left = leftSpecial
			return nil
		case int64(len(content)) > most:
			s.Left = leftLarge
			return nil
		case before == after && int64(len(content)) == after.Stat.Size:
			s.set(after, content)
			return nil
		}
	}
	s.Left = leftMoving
	return nil
}

func readSteady(f dir.File, most int64) (before dir.Info, content []byte, after dir.Info, err error) {
	if before, err = f.Stat(); err != nil || !before.Mode.IsFile() {
		return before, nil, before, err
	}
	if content, err = io.ReadAll(io.LimitReader(f, most+1)); err != nil {
		return before, nil, before, err
	}
	after, err = f.Stat()
	return before, content, after, err
}
