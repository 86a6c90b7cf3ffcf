package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// ErrGone: a path to save no longer exists.
var ErrGone = errors.New("gone")

// Save stores the contents of a file or symlink that no capture holds, of any size, and returns the
// state of the path, which a plan may then replace. It fails, with an error that wraps the reason,
// if the contents at one moment cannot be read.
func Save(root, path string, sink Sink) (*dir.State, error) {
	var expect *dir.State
	err := dir.Descend(root, path, func(h *dir.Handle, at, name string) (bool, error) {
		if at != path {
			return true, nil
		}
		st, err := h.Lstat(append([]byte(name), 0)[:len(name)])
		if err != nil {
			return false, err
		}
		if st.Mode == 0 || st.Mode == object.Dir {
			return false, fmt.Errorf("%w: only files and symlinks can be saved", errUnstable)
		}
		w := &worker{scanner: &scanner{Walk: &Walk{Root: root, Sink: sink}, ctx: context.Background()}}
		started := time.Now()
		id, err := w.store(&node{handle: h}, name, path, st)
		if racy(&st.Stat, started) {
			st.Stat = index.Stat{} // the stat proves nothing: only the contents count
		}
		expect = &dir.State{Mode: st.Mode, Perm: st.Perm, Stat: st.Stat, ID: id}
		return false, err
	})
	if err != nil {
		if dir.Classify(err) == dir.Gone {
			err = ErrGone
		}
		return nil, fmt.Errorf("save %s: %w", path, err)
	}
	return expect, nil
}

// CanSave returns the error with which Save would fail at a file that cannot be opened. Only Save
// finds out whether the contents keep changing.
func CanSave(root, path string) error {
	err := dir.Descend(root, path, func(h *dir.Handle, at, name string) (bool, error) {
		if at != path {
			return true, nil
		}
		st, err := h.Lstat(append([]byte(name), 0)[:len(name)])
		if err != nil || !st.Mode.IsFile() {
			return false, err
		}
		f, err := h.OpenFile(name)
		if err != nil {
			return false, err
		}
		return false, f.Close()
	})
	if err != nil && dir.Classify(err) != dir.Gone {
		return fmt.Errorf("save %s: %w", path, err)
	}
	return nil
}

// Identify is Save without storing: it returns the state of the path, with the id of its contents.
func Identify(root, path string) (*dir.State, error) { return Save(root, path, hashOnly{}) }

// hashOnly is a Sink that stores nothing.
type hashOnly struct{}

func (hashOnly) Add(kind object.Kind, content []byte) (object.ID, error) {
	return object.Sum(kind, content), nil
}

func (hashOnly) AddAs(object.ID, object.Kind, []byte) error { return nil }

func (hashOnly) AddBlob(r io.Reader, size int64) (object.ID, error) {
	h := object.NewHash(object.Blob, size)
	_, err := io.Copy(h, r)
	return object.HashID(h), err
}

func (hashOnly) Has(object.ID) bool { return true }
