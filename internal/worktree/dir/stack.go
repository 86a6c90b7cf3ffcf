package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// ErrChanged: a path is not what it was when the caller looked at it. It was left as it is.
var ErrChanged = errors.New("changed since it was examined")

// ErrNotDirectory is the ErrChanged of a path above which something else has replaced a
// directory.
var ErrNotDirectory = fmt.Errorf("%w: a directory above it is none any more", ErrChanged)

// openChild opens the directory name of parent. An os.Root follows a symlink that stays
// inside it, even as the last name of a path. A directory that is replaced by a link to
// another directory would therefore redirect all writes. So name must be a directory, and
// the opened directory must be that same one.
//
// The "/." makes os.Root open name only as a directory, so a FIFO that takes its place
// cannot block the call.
func openChild(parent *os.Root, name string) (*os.Root, fs.FileInfo, error) {
	before, err := parent.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.IsDir() {
		return nil, nil, ErrNotDirectory
	}
	r, err := parent.OpenRoot(name + "/.")
	if err == nil {
		var after fs.FileInfo
		if after, err = r.Stat("."); err == nil && os.SameFile(before, after) {
			return r, after, nil
		}
		r.Close()
	}
	if now, lerr := parent.Lstat(name); lerr != nil || !os.SameFile(before, now) || replaced(err) {
		return nil, nil, ErrNotDirectory
	}
	return nil, nil, err
}

// replaced reports whether the error of opening a former directory means that the name is
// no directory any more, or leads out of the root. os.Root reports the latter with an error
// that is no system error.
func replaced(err error) bool {
	var errno syscall.Errno
	return !errors.As(err, &errno) || errno == syscall.ENOTDIR || errno == syscall.ELOOP || errors.Is(err, fs.ErrNotExist)
}

// MaxOpen is the number of directories of one path that a Stack keeps open. A path may have
// thousands of names; the upper directories are opened again when they are needed.
const MaxOpen = 64

// Stack holds the handles of one directory and of the directories above it. A caller that
// enters paths in order opens every directory about once.
type Stack struct {
	top    *os.Root
	info   fs.FileInfo // of top; nil if unknown
	path   string      // of the deepest level
	levels []level
	held   map[*os.Root]bool // stay open until Release
}

type level struct {
	end  int      // the level's path is path[:end]
	root *os.Root // nil when closed to save descriptors
	info fs.FileInfo
}

// DeniedError names the directory that may not be searched, read or written.
type DeniedError struct {
	Path string
	Err  error
}

func (e *DeniedError) Error() string { return fmt.Sprintf("directory %q: %v", e.Path, e.Err) }
func (e *DeniedError) Unwrap() error { return e.Err }

// NewStack returns a stack whose root is top, which the caller closes.
func NewStack(top *os.Root, info fs.FileInfo) Stack { return Stack{top: top, info: info} }

// Enter goes to the directory path, "" for the root, one name at a time. If missing is not
// nil, it is called to make a directory that does not exist.
func (s *Stack) Enter(path string, missing func(parent *os.Root, name string) error) (*os.Root, error) {
	s.leave(CommonPath(s.path, path))
	for len(s.path) < len(path) {
		start := len(s.path)
		if start > 0 {
			start++
		}
		name, _, _ := strings.Cut(path[start:], "/")
		r, info, err := s.step(s.Last(), name, path[:start+len(name)], missing)
		if err != nil {
			return nil, err
		}
		s.push(path[:start+len(name)], r, info)
	}
	return s.Last(), nil
}

func (s *Stack) step(parent *os.Root, name, path string, missing func(*os.Root, string) error) (*os.Root, fs.FileInfo, error) {
	r, info, err := openChild(parent, name)
	if errors.Is(err, fs.ErrNotExist) && missing != nil {
		if err := missing(parent, name); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, nil, Denied(s.path, err)
		}
		r, info, err = openChild(parent, name)
	}
	if err != nil && errors.Is(err, fs.ErrPermission) {
		if _, lerr := parent.Lstat(name); lerr != nil {
			return nil, nil, Denied(s.path, lerr)
		}
		return nil, nil, Denied(path, err)
	}
	return r, info, err
}

// Denied wraps a permission error in a DeniedError for the directory path. Other errors stay
// as they are.
func Denied(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return &DeniedError{path, err}
	}
	return err
}

func (s *Stack) push(path string, r *os.Root, info fs.FileInfo) {
	s.path = path
	s.levels = append(s.levels, level{len(path), r, info})
	if i := len(s.levels) - 1 - MaxOpen; i >= 0 && s.levels[i].root != nil {
		s.drop(s.levels[i].root)
		s.levels[i].root = nil
	}
}

// drop closes a handle that has left the levels, unless it is held.
func (s *Stack) drop(r *os.Root) {
	if !s.held[r] {
		r.Close()
	}
}

// Hold keeps a handle that Enter returned open until Release, even if its level is left.
func (s *Stack) Hold(r *os.Root) {
	if s.held == nil {
		s.held = make(map[*os.Root]bool)
	}
	s.held[r] = true
}

// Release ends all holds and closes the held handles that are no level any more.
func (s *Stack) Release() {
	delete(s.held, s.top)
	for _, l := range s.levels {
		delete(s.held, l.root)
	}
	for r := range s.held {
		r.Close()
	}
	clear(s.held)
}

// leave closes the levels deeper than path[:end], and drops levels without an open handle.
func (s *Stack) leave(end int) {
	for n := len(s.levels); n > 0; n = len(s.levels) {
		l := s.levels[n-1]
		if l.end <= end && l.root != nil {
			s.path = s.path[:l.end]
			return
		}
		if l.root != nil {
			s.drop(l.root)
		}
		s.levels = s.levels[:n-1]
	}
	s.path = ""
}

// Last returns the handle of the deepest level.
func (s *Stack) Last() *os.Root {
	if n := len(s.levels); n > 0 {
		return s.levels[n-1].root
	}
	return s.top
}

// Place is a path and the directory that was found there.
type Place struct {
	Path string
	Info fs.FileInfo // nil if unknown
}

// Here returns the deepest level.
func (s *Stack) Here() Place {
	if n := len(s.levels); n > 0 {
		return Place{s.path, s.levels[n-1].info}
	}
	return Place{"", s.info}
}

// Way returns the directories below the root down to the deepest level, as they were when they were opened.
func (s *Stack) Way() []fs.FileInfo {
	var way []fs.FileInfo
	for _, l := range s.levels {
		way = append(way, l.info)
	}
	return way
}

// Close closes all levels. The root stays open.
func (s *Stack) Close() { s.leave(0) }

// CommonPath returns the length of the longest common ancestor of a and b, each of which is
// its own ancestor.
func CommonPath(a, b string) int {
	n, end := min(len(a), len(b)), 0
	for i := range n {
		if a[i] != b[i] {
			return end
		}
		if a[i] == '/' {
			end = i
		}
	}
	if len(a) == len(b) || len(a) > n && a[n] == '/' || len(b) > n && b[n] == '/' {
		return n
	}
	return end
}

// Cause unwraps the path errors of os.Root and a DeniedError. Their names are relative to a
// handle; the caller adds the whole path once.
func Cause(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	case *DeniedError:
		return Cause(e.Err)
	}
	return err
}
