package odb

import (
	"context"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// waiting announces that a process waits for the lock, by a shared kernel lock on
// cairn/lock.wait, which ends with the process. A holder that can pause looks there: an exclusive
// attempt fails while any process waits.
type waiting struct{ kernel *flock.Flock }

// announce tries once to make the wait known. Without it the holder pauses a little later.
func (w *waiting) announce(db *DB) {
	if w.kernel == nil && db.isIrregular(waitFile) {
		return
	}
	if w.kernel == nil {
		w.kernel = flock.New(db.path(waitFile), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	}
	if !w.kernel.RLocked() {
		_, _ = w.kernel.TryRLock()
	}
}

// isIrregular reports whether something else than a regular file is in the place of a file.
func (db *DB) isIrregular(name string) bool {
	info, err := os.Lstat(db.path(name))
	return err == nil && !info.Mode().IsRegular()
}

func (w *waiting) end() {
	if w.kernel != nil {
		_ = w.kernel.Close()
	}
}

// LockWanted reports whether a goroutine or process waits for the lock.
func (db *DB) LockWanted() bool {
	if db.queue.Load() > 0 {
		return true
	}
	if fileMissing(db.path(waitFile)) || db.isIrregular(waitFile) {
		return false
	}
	fl := flock.New(db.path(waitFile), flock.SetFlag(os.O_RDWR))
	free, err := fl.TryLock()
	_ = fl.Close()
	return err == nil && !free
}

// GiveWay lets waiting processes have the lock that the caller has just released. It waits for at
// most giveWayLimit.
func (db *DB) GiveWay(ctx context.Context) {
	for end := time.Now().Add(giveWayLimit); db.LockWanted() && ctx.Err() == nil && time.Now().Before(end); {
		time.Sleep(firstPause)
	}
}

// giveWayLimit is some three tries of each waiting process. Without a limit, a store in constant
// use would never be cleaned up.
const giveWayLimit = 4 * maxPause
