package keep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/parallel"
)

// Result says what a Keep did.
type Result struct {
	Linked, Copied int // files
	Left           int // files that the vault could not take
	Why            error
}

// Options of a Keep.
type Options struct {
	SHA256 bool

	// Copy makes copies and no links.
	Copy bool

	// Room reports whether a copy of that many bytes may be made.
	Room func(bytes int64) bool

	// Beside is the object directory of the store that the vault is part of. A loose object that
	// lies there is not taken once more: git reads it from the vault, too. "" = none. It has no
	// effect with SHA256, because a store has ids of SHA-1.
	Beside string
}

// Keep takes every pack and every loose object of the object directories into the vault. A file that
// vanishes meanwhile is left out: another process has replaced it.
func (v *Vault) Keep(ctx context.Context, dirs []string, opt Options) (Result, error) {
	var res Result
	n, err := v.prepare(opt.SHA256)
	if opt.SHA256 {
		opt.Beside = ""
	}
	var made string
	if err == nil {
		made, err = v.readsFrom(opt.Beside)
	}
	if err != nil {
		return res, fmt.Errorf("keep objects: %w", err)
	}
	t := &taking{Vault: v, opt: opt, res: &res}
	var sources []source
	for _, dir := range dirs {
		s := source{Dir: dir, Seen: make(map[string]int64)}
		if i := slices.IndexFunc(n.Sources, func(s source) bool { return s.Dir == dir }); i >= 0 && n.Sources[i].Seen != nil {
			s.Seen = n.Sources[i].Seen
		}
		if err := errors.Join(t.packs(ctx, dir), t.loose(ctx, &s)); err != nil {
			return res, fmt.Errorf("keep objects: %w", err)
		}
		sources = append(sources, s)
	}
	for _, s := range n.Sources { // a source that is gone may come back
		if !slices.Contains(dirs, s.Dir) && len(sources) < maxSources {
			sources = append(sources, source{Dir: s.Dir})
		}
	}
	n.Sources = sources
	if err := v.flush(t.res.Linked+t.res.Copied > 0, made); err != nil {
		return res, fmt.Errorf("keep objects: %w", err)
	}
	return res, v.write(n)
}

// maxSources is how many object directories a vault remembers.
const maxSources = 64

type taking struct {
	*Vault
	opt Options

	mu  sync.Mutex // guards res, and calls of Options.Room
	res *Result
}

// packs takes the complete packs of an object directory.
func (t *taking) packs(ctx context.Context, dir string) error {
	stems, err := pack.List(filepath.Join(dir, "pack"))
	if err != nil {
		return nil // no such directory
	}
	for _, stem := range stems {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := t.path("objects", "pack", stem)
		if _, err := os.Lstat(to + pack.IndexExt); err == nil {
			continue
		}
		from := filepath.Join(dir, "pack", stem)
		if t.linkUnlessThere(from+pack.Ext, to+pack.Ext) && !t.linkUnlessThere(from+pack.IndexExt, to+pack.IndexExt) {
			if err := atomicfile.RemoveIfThere(to + pack.Ext); err != nil {
				return err
			}
		}
	}
	return nil
}

// settled is the age from which a directory's mtime shows the next change.
const settled = 2500 * time.Millisecond

// loose takes the loose objects of the directories that have changed since the last time. Several
// goroutines do, because a link is a change of two directories and takes the kernel some time.
func (t *taking) loose(ctx context.Context, s *source) error {
	names := make(chan string, 256)
	for i := range 256 {
		names <- fmt.Sprintf("%02x", i)
	}
	close(names)
	var mu sync.Mutex // guards s.Seen and failed
	var failed error
	parallel.Run(runtime.GOMAXPROCS(0), func() {
		for name := range names {
			if ctx.Err() != nil {
				return
			}
			mu.Lock()
			seen := s.Seen[name]
			mu.Unlock()
			now, err := t.looseIn(filepath.Join(s.Dir, name), name, seen)
			mu.Lock()
			if delete(s.Seen, name); now != 0 {
				s.Seen[name] = now
			}
			failed = errors.Join(failed, err)
			mu.Unlock()
		}
	})
	return errors.Join(failed, ctx.Err())
}

// looseIn takes the objects of one directory, unless it is as it was seen. It returns its stamp if the
// vault has all objects and a later change will show, else 0.
func (t *taking) looseIn(dir, name string, seen int64) (stamp int64, err error) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return 0, nil
	}
	stamp, rests := t.stamp(info, name)
	if stamp == seen {
		return stamp, nil
	}
	objects, err := namesIn(dir)
	if err != nil {
		return 0, nil // gone, or out of reach
	}
	to := t.path("objects", name)
	missing, err := t.missing(objects, to, name)
	if err != nil {
		return 0, err
	}
	if len(missing) > 0 {
		if err := os.Mkdir(to, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return 0, err
		}
	}
	whole := true
	for _, object := range missing {
		if !t.linkOrCopy(filepath.Join(dir, object), filepath.Join(to, object)) {
			whole = false
		}
	}
	if !whole || !rests {
		return 0, nil
	}
	return stamp, nil
}

// linkUnlessThere is linkOrCopy for a file that the vault may have.
func (t *taking) linkUnlessThere(from, to string) bool {
	if _, err := os.Lstat(to); err == nil {
		return true
	}
	return t.linkOrCopy(from, to)
}

// linkOrCopy links or copies a regular file. It reports whether the vault has it now.
func (t *taking) linkOrCopy(from, to string) bool {
	info, err := os.Lstat(from)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if err = t.linkUnlessCopy(from, to); err == nil {
		now, err := os.Lstat(to)
		if err == nil && os.SameFile(info, now) {
			t.mu.Lock()
			t.res.Linked++
			t.mu.Unlock()
			return true
		}
		_ = os.Remove(to) // another file has taken the name
		return false
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return errors.Is(err, fs.ErrExist)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err = t.copy(from, to, info.Size()); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			t.res.Left++
			t.res.Why = err
		}
		return false
	}
	t.res.Copied++
	return true
}

// errCopy stands for the error of a link that is not to be made.
var errCopy = errors.New("only copies")

func (t *taking) linkUnlessCopy(from, to string) error {
	if t.opt.Copy {
		return errCopy
	}
	return t.link(from, to)
}

// errNoRoom is the reason for a file that is not copied.
var errNoRoom = errors.New("copies of them would not fit into the limits of the store")

func (t *taking) copy(from, to string, size int64) error {
	if t.opt.Room != nil && !t.opt.Room(size) {
		return errNoRoom
	}
	f, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() != size {
		return errors.Join(err, errChanged)
	}
	return atomicfile.Write(to, 0o400, t.sync && strings.HasSuffix(to, pack.Ext), func(w io.Writer) error {
		n, err := io.Copy(w, io.LimitReader(f, size))
		if err == nil && n != size {
			err = errChanged
		}
		return err
	})
}

var errChanged = errors.New("the file changes")
