package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// ErrChanged: a path is not what it was when it was examined; it was left as it is.
var ErrChanged = errors.New("changed since it was examined")

var ErrNotDirectory = fmt.Errorf("%w: a directory above it is none any more", ErrChanged)

// openChild opens the directory name of parent. An os.Root alone would follow a
// symlink that stays inside it, even the last name of a path, so that a directory
// replaced by a link to another one would redirect everything written into it:
// name must be a directory, and what was opened must be that same one.
//
// The "/." has os.Root open name as a directory only, so that a FIFO that takes its
// place meanwhile cannot block the call.
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

// replaced reports whether err, of opening what was a directory, means that it was
// none any more, or another one, or led elsewhere (which is no error of the system).
func replaced(err error) bool {
	var errno syscall.Errno
	return !errors.As(err, &errno) || errno == syscall.ENOTDIR || errno == syscall.ELOOP || errors.Is(err, fs.ErrNotExist)
}

// MaxOpen is how many directories of a path stay open. A path may have thousands
// of names; the upper ones are opened again when they are needed.
const MaxOpen = 64

// Stack holds the handles of one directory and of those above it. Going through
// paths in order opens every directory about once.
type Stack struct {
	top    *os.Root
	info   fs.FileInfo // of top; nil where nobody asks
	path   string      // of the deepest level
	levels []level
	held   map[*os.Root]bool // stay open until release
}

type level struct {
	end  int      // the level's path is path[:end]
	root *os.Root // nil when closed to save descriptors
	info fs.FileInfo
}

// DeniedError says which directory refuses to be searched, read or written.
type DeniedError struct {
	Path string
	Err  error
}

func (e *DeniedError) Error() string { return fmt.Sprintf("directory %q: %v", e.Path, e.Err) }
func (e *DeniedError) Unwrap() error { return e.Err }

func NewStack(top *os.Root, info fs.FileInfo) Stack { return Stack{top: top, info: info} }

// Enter goes to the directory path, "" for the root, one name at a time. missing,
// if not nil, is called to make a directory that is not there.
func (s *Stack) Enter(path string, missing func(parent *os.Root, name string) error) (*os.Root, error) {
	s.leave(commonPath(s.path, path))
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

// drop closes a handle that is no level any more, unless somebody holds it.
func (s *Stack) drop(r *os.Root) {
	if !s.held[r] {
		r.Close()
	}
}

// Hold keeps a handle that enter returned open, whatever becomes of its level.
func (s *Stack) Hold(r *os.Root) {
	if s.held == nil {
		s.held = make(map[*os.Root]bool)
	}
	s.held[r] = true
}

// Release ends all holds.
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

// leave closes the levels deeper than path[:end], and those that are closed already.
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

func (s *Stack) Last() *os.Root {
	if n := len(s.levels); n > 0 {
		return s.levels[n-1].root
	}
	return s.top
}

// Place is a directory as it was found at a path.
type Place struct {
	Path string
	Info fs.FileInfo // nil if it is not known
}

// Here is the deepest level.
func (s *Stack) Here() Place {
	if n := len(s.levels); n > 0 {
		return Place{s.path, s.levels[n-1].info}
	}
	return Place{"", s.info}
}

func (s *Stack) Close() { s.leave(0) }

// commonPath is the length of the longest path that is a or above it, and also b or
// above it.
func commonPath(a, b string) int {
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

// Cause drops the names that os.Root puts around an error: they are relative to
// a handle, and the whole path is put around it once.
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
