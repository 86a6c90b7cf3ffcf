package capture

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// FreshStore is a store that was made for this Repo. If the first capture is refused, the store is
// removed with the Repo, so that a refusal leaves nothing behind. Counting before the store is made
// would mean to scan everything twice. A process that is killed in between leaves an empty store.
type FreshStore struct {
	Dirs    []string // directories made for the store, outermost first
	refused atomic.Bool
}

// AbsentDirs returns those of the directories that do not exist.
func AbsentDirs(dirs ...string) []string {
	return slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Lstat(dir)
		return err == nil
	})
}

// note records that a capture was refused.
func (f *FreshStore) note(err error) {
	if f != nil && errors.Is(err, state.ErrTooLarge) {
		f.refused.Store(true)
	}
}

// Drop removes the store of a Repo whose capture was refused, unless it holds refs or another
// process has the lock.
func (f *FreshStore) Drop(r *Capturer) {
	if !f.refused.Load() {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // the lock is tried once
	unlock, err := r.DB.Lock(ctx)
	if err != nil {
		return
	}
	refs, err := r.DB.Refs("refs/")
	if err != nil || len(refs) > 0 {
		_ = unlock()
		return
	}
	if err := r.DB.Remove(unlock); err != nil {
		r.Log.Warn("store of a refused capture left behind", "error", err)
		return
	}
	for _, dir := range slices.Backward(f.Dirs) {
		_ = os.Remove(dir) // fails for a directory that holds something by now
	}
}
