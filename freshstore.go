package cairn

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync/atomic"
)

// freshStore is a store that was made for this Repo. If its first capture is refused,
// it goes with the Repo, so that a refusal leaves nothing behind: to count before the
// store is made would mean to walk over everything twice. A process that is killed in
// between leaves an empty store.
type freshStore struct {
	dirs    []string // made on the way to it, outermost first
	refused atomic.Bool
}

// absentDirs are those of some directories that do not exist.
func absentDirs(dirs ...string) []string {
	return slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Lstat(dir)
		return err == nil
	})
}

// note takes note of how a capture has failed.
func (f *freshStore) note(err error) {
	if f != nil && errors.Is(err, ErrTooLarge) {
		f.refused.Store(true)
	}
}

// drop removes the store of a Repo whose capture was refused, unless something has been
// stored since, or somebody else is at work there.
func (f *freshStore) drop(r *Repo) {
	if !f.refused.Load() {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // the lock is tried once
	unlock, err := r.db.Lock(ctx)
	if err != nil {
		return
	}
	refs, err := r.db.Refs("refs/")
	if err != nil || len(refs) > 0 {
		_ = unlock()
		return
	}
	if err := r.db.Remove(unlock); err != nil {
		r.log.Warn("store of a refused capture left behind", "error", err)
		return
	}
	for _, dir := range slices.Backward(f.dirs) {
		_ = os.Remove(dir) // unless it holds something by now
	}
}
