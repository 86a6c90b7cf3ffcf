package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

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
