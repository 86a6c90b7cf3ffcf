package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Found is what stands at a path, or in the way to it.
type Found struct {
	Path  string // the path asked for, or the parent of it that is no directory, as the disk spells it
	As    string // the same as it was asked for, where that is spelled another way; else ""
	Mode  object.Mode
	Perm  uint16
	Stat  index.Stat
	Empty bool // a directory without any name in it
}

// Expect returns what an Apply must find there.
func (f *Found) Expect(id object.ID) *Expect {
	return &Expect{Mode: f.Mode, Perm: f.Perm, Stat: f.Stat, ID: id}
}

// Look finds what stands at a path, or else the first parent that is not a
// directory; nil when nothing stands in the way. No symlink is followed.
//
// Some file systems find README by the name of readme. The first name on the way that the
// disk spells differently is found, too, be it a directory; known says which paths are
// spelled so. If it is nil, any spelling will do.
func Look(root, path string, known func(path string) bool) (*Found, error) {
	var found *Found
	err := descendTo(root, path, func(h *dirHandle, at, name string) (bool, error) {
		st, err := h.lstat(append([]byte(name), 0)[:len(name)])
		if err != nil {
			if errKind(err) == failGone {
				return false, nil
			}
			return false, err
		}
		spelled := name
		if known != nil && !known(at) {
			spelled = h.spelling(name, st)
		}
		if at != path && st.mode == object.Dir && spelled == name {
			return true, nil
		}
		found = &Found{Path: at, Mode: st.mode, Perm: st.perm, Stat: st.stat}
		if spelled != name {
			found.Path, found.As = index.Join(parentPath(at), spelled), at
		}
		if st.mode == object.Dir {
			found.Empty, err = isEmpty(h, name)
		}
		return false, err
	})
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", path, err)
	}
	return found, nil
}

// descendTo calls visit for every component of path with the handle of the
// directory that holds it, as long as visit says to go on.
func descendTo(root, path string, visit func(h *dirHandle, at, name string) (bool, error)) error {
	h, err := openRoot(root)
	if err != nil {
		return err
	}
	defer func() { h.close() }()
	at := ""
	for name := range strings.SplitSeq(path, "/") {
		at = index.Join(at, name)
		more, err := visit(h, at, name)
		if err != nil || !more {
			return err
		}
		sub, err := h.openDir(name)
		if err != nil {
			return err
		}
		h.close()
		h = sub
	}
	return nil
}

func isEmpty(h *dirHandle, name string) (bool, error) {
	names, err := namesIn(h, name)
	return err == nil && len(names) == 0, err
}

// Names lists what is in the directory dir, which no symlink leads to.
func Names(root, dir string) (names []string, err error) {
	err = descendTo(root, dir, func(h *dirHandle, at, name string) (bool, error) {
		if at != dir {
			return true, nil
		}
		names, err = namesIn(h, name)
		return false, err
	})
	return names, err
}

func namesIn(h *dirHandle, name string) ([]string, error) {
	sub, err := h.openDir(name)
	if err != nil {
		return nil, err
	}
	defer sub.close()
	var l listing
	if err := sub.list(&l, make([]byte, 4096)); err != nil {
		return nil, err
	}
	names := make([]string, len(l.names))
	for i, n := range l.names {
		names[i] = string(n)
	}
	return names, nil
}

// ErrGone says that a path to be saved is not there any more.
var ErrGone = errors.New("gone")

// Save stores the contents of a file or symlink that no capture holds, whatever
// its size, and returns what an Apply may then replace. It fails with an error
// wrapping the reason if the contents cannot be had as they stood at one moment.
func Save(root, path string, sink Sink) (*Expect, error) {
	var expect *Expect
	err := descendTo(root, path, func(h *dirHandle, at, name string) (bool, error) {
		if at != path {
			return true, nil
		}
		st, err := h.lstat(append([]byte(name), 0)[:len(name)])
		if err != nil {
			return false, err
		}
		if st.mode == 0 || st.mode == object.Dir {
			return false, fmt.Errorf("%w: only files and symlinks can be saved", errUnstable)
		}
		w := &worker{scanner: &scanner{Scan: &Scan{Root: root, Sink: sink}, ctx: context.Background()}}
		started := time.Now()
		id, err := w.store(&node{handle: h}, name, st)
		if racy(&st.stat, started) {
			st.stat = index.Stat{} // proves nothing: only the contents count
		}
		expect = &Expect{Mode: st.mode, Perm: st.perm, Stat: st.stat, ID: id}
		return false, err
	})
	if err != nil {
		if errKind(err) == failGone {
			err = ErrGone
		}
		return nil, fmt.Errorf("save %s: %w", path, err)
	}
	return expect, nil
}

// CanSave returns why Save would fail at a file that cannot be opened. Contents that
// keep changing are found by Save alone.
func CanSave(root, path string) error {
	err := descendTo(root, path, func(h *dirHandle, at, name string) (bool, error) {
		if at != path {
			return true, nil
		}
		st, err := h.lstat(append([]byte(name), 0)[:len(name)])
		if err != nil || !st.mode.IsFile() {
			return false, err
		}
		f, err := h.openFile(name)
		if err != nil {
			return false, err
		}
		return false, f.Close()
	})
	if err != nil && errKind(err) != failGone {
		return fmt.Errorf("save %s: %w", path, err)
	}
	return nil
}

// Identify is Save without saving: what stands at the path, with the id that its
// contents would have.
func Identify(root, path string) (*Expect, error) { return Save(root, path, hashOnly{}) }

// hashOnly is a Sink that keeps nothing.
type hashOnly struct{}

func (hashOnly) Add(kind object.Kind, content []byte) (object.ID, error) {
	return object.Sum(kind, content), nil
}

func (hashOnly) AddBlob(r io.Reader, size int64) (object.ID, error) {
	h := object.NewHash(object.Blob, size)
	_, err := io.Copy(h, r)
	return object.HashID(h), err
}

func (hashOnly) Has(object.ID) bool { return true }

// Uncaptured returns the path of something below the directory dir that the index
// does not hold as captured, "" when there is nothing of the kind: only then may the
// directory go. Errors count as something that is there.
func Uncaptured(root, dir string, x *index.Index) string {
	var l listing
	var found string
	_ = descendTo(root, dir, func(h *dirHandle, at, name string) (bool, error) {
		if at != dir {
			return true, nil
		}
		found = uncaptured(h, name, at, x, &l)
		return false, nil
	})
	return found
}

func uncaptured(parent *dirHandle, name, path string, x *index.Index, l *listing) string {
	h, err := parent.openDir(name)
	if err != nil {
		return path
	}
	defer h.close()
	if err := h.list(l, make([]byte, direntBuffer)); err != nil {
		return path
	}
	names := make([]string, len(l.names))
	for i, n := range l.names {
		names[i] = string(n)
	}
	d := x.Dirs[path]
	for _, n := range names {
		at := index.Join(path, n)
		if d == nil {
			return at
		}
		rec := d.Find(n)
		switch {
		case rec == nil || rec.Skip() != index.Captured:
			return at
		case rec.Mode() == object.Dir:
			if found := uncaptured(h, n, at, x, l); found != "" {
				return found
			}
		}
	}
	return ""
}
