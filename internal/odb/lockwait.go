package odb

import (
	"context"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// Whoever waits for the lock says so with a shared kernel lock on cairn/lock.wait,
// which dies with the waiter as the lock itself does. Who has the lock, and could do
// with less of it, looks there; an exclusive attempt fails while anybody waits.
type waiting struct{ kernel *flock.Flock }

// announce tries once to make the wait known. It does not matter much if that does
// not succeed: the lock is only given up a little later.
func (w *waiting) announce(db *DB) {
	if w.kernel == nil && db.isOdd(waitFile) {
		return
	}
	if w.kernel == nil {
		w.kernel = flock.New(db.path(waitFile), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	}
	if !w.kernel.RLocked() {
		_, _ = w.kernel.TryRLock()
	}
}

// isOdd reports whether something that is no regular file stands in place of a file.
func (db *DB) isOdd(name string) bool {
	info, err := os.Lstat(db.path(name))
	return err == nil && !info.Mode().IsRegular()
}

func (w *waiting) end() {
	if w.kernel != nil {
		_ = w.kernel.Close()
	}
}

// wanted reports whether somebody waits for the lock, in this process or another.
func (db *DB) LockWanted() bool {
	if db.queue.Load() > 0 {
		return true
	}
	if fileMissing(db.path(waitFile)) || db.isOdd(waitFile) {
		return false
	}
	fl := flock.New(db.path(waitFile), flock.SetFlag(os.O_RDWR))
	free, err := fl.TryLock()
	_ = fl.Close()
	return err == nil && !free
}

// giveWay lets those who wait have the lock, which the caller has just given back.
// It does not wait for ever, see giveWayLimit.
func (db *DB) GiveWay(ctx context.Context) {
	for end := time.Now().Add(giveWayLimit); db.LockWanted() && ctx.Err() == nil && time.Now().Before(end); {
		time.Sleep(firstPause)
	}
}

// giveWayLimit is some three tries of everybody who waits. Where there are always some,
// the store would never be cleaned up otherwise.
const giveWayLimit = 4 * maxPause
