package atrest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// besideLock are the private files that carry the kernel locks of work beside the lock of the store: a cleaning, a
// push in the background, a sealed push, and readers that would open the store again (Use).
var besideLock = []string{"collect", "pushing", "sealing", useName}

const useName = "inuse"

// useEvery is the time between two tries to use a store that is being sealed.
const useEvery = 20 * time.Millisecond

// Use keeps the store in a directory from being sealed until end is called. It waits until ctx ends for a process that
// is sealing it. Where there is no store it does nothing.
func Use(ctx context.Context, dir string) (end func() error, err error) {
	path := filepath.Join(dir, privateDir, useName)
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	_, err = l.TryRLockContext(ctx, useEvery)
	switch {
	case err == nil:
		return l.Close, nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR):
		err = nil // no store, or one that this process cannot seal
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: another process seals it, by %s", odb.ErrLocked, path)
	}
	return func() error { return nil }, errors.Join(err, l.Close())
}

// alone takes the locks of the work beside the lock of the store, and makes files that are absent: a process that
// begins such work later finds them locked. A lock that another process has is odb.ErrLocked.
func alone(db *odb.DB) (end func() error, err error) {
	var taken []*flock.Flock
	end = func() (err error) {
		for _, l := range taken {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	for _, name := range besideLock {
		l := flock.New(db.PrivatePath(name), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		ok, err := l.TryLock()
		if err == nil && !ok {
			err = fmt.Errorf("%w: another process works with it, by %s; try again when it has ended", odb.ErrLocked, db.PrivatePath(name))
		}
		if err != nil {
			return nil, errors.Join(err, l.Close(), end())
		}
		taken = append(taken, l)
	}
	return end, nil
}
