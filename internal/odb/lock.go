package odb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// LockedError names the holder of the lock. It is an ErrLocked, and the error of the context if
// that ended the wait.
type LockedError struct {
	Path   string // the lock, or the record of a holder on another machine
	Holder Holder // zero if it is not known

	foreign bool
	cause   error
}

func (e *LockedError) Error() string {
	if e.foreign {
		return fmt.Sprintf("store is locked by %s; if that machine is gone, remove %s", e.Holder, e.Path)
	}
	return fmt.Sprintf("store is locked by %s (%s); wait for it or end it, then try again", e.Holder, e.Path)
}

// Unwrap makes errors.Is find ErrLocked and the context's error.
func (e *LockedError) Unwrap() []error {
	if e.cause == nil {
		return []error{ErrLocked}
	}
	return []error{ErrLocked, e.cause}
}

// The pauses between two tries of a lock that another process has. They grow from 1 ms on, and are
// random so that several waiting processes do not try in step.
const (
	firstPause = time.Millisecond
	maxPause   = 25 * time.Millisecond
)

// lockTries is the number of successive errors of the system, such as lack of memory or file
// handles, that ends an attempt to get the lock.
const lockTries = 5

// Lock takes the lock of the store. It waits until ctx ends for the holder, in this process or
// another one. The lock is a kernel lock, so it ends with its holder, and no age of a file
// matters. A record beside it names the holder. The record counts when the kernel lock is free: a
// record of this machine, of this boot or an earlier one, belongs to a dead process and is
// replaced. A record of another machine, whose kernel locks may not reach this one, is respected:
// Lock fails at once with a LockedError.
//
// unlock may be called more than once. A closed DB gets no lock, so that nothing is written by way of it.
func (db *DB) Lock(ctx context.Context) (unlock func() error, err error) {
	if err := db.waitForTurn(ctx); err != nil {
		return nil, err
	}
	var l *acquiredLock
	if err = db.errClosed(); err == nil {
		l, err = db.acquire(ctx)
	}
	if err != nil {
		<-db.turn
		return nil, err
	}
	if !db.configured {
		db.configured = true
		db.completeConfig()
	}
	return sync.OnceValue(func() error {
		defer func() { <-db.turn }()
		return db.leave(l)
	}), nil
}

// acquiredLock is the lock while this process has it.
type acquiredLock struct {
	kernel *flock.Flock
	record *holderRecord
}

// leave clears the record before it releases the kernel lock: a record of this process always
// means that this process has the lock.
func (db *DB) leave(l *acquiredLock) error {
	nonce := newNonce()
	err := l.record.clear(nonce)
	if db.nonce = nonce; err != nil {
		db.nonce = ""
	}
	return errors.Join(err, l.kernel.Unlock())
}

// Disturbances counts acquisitions of the lock by other processes since this DB last held
// it; several in a row may count as one. The first acquisition by this DB counts, too. The
// number is valid only while the lock is held. It tells nothing of changes that other
// processes make without the lock.
func (db *DB) Disturbances() int { return db.disturbances }

// waitForTurn makes the goroutines of one DB queue up, in order, before they compete with other
// processes. It takes a free turn even if ctx has ended.
func (db *DB) waitForTurn(ctx context.Context) error {
	select {
	case db.turn <- struct{}{}:
		return nil
	default:
	}
	db.queue.Add(1)
	defer db.queue.Add(-1)
	select {
	case db.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return db.lockedError(ctx)
	}
}

// acquire gets the kernel lock and writes the record. It tries at least once.
func (db *DB) acquire(ctx context.Context) (*acquiredLock, error) {
	if db.isIrregular(lockFile) {
		return nil, fmt.Errorf("%w: lock store %s: %s is not a regular file; cairn doctor --fix mends it", pack.ErrCorrupt, db.dir, db.path(lockFile))
	}
	fl := flock.New(db.path(lockFile))
	failures := 0
	var w waiting
	defer w.end()
	for pause := firstPause; ; pause = min(maxPause, 2*pause) {
		ok, err := tryLock(fl)
		if ok {
			return db.enter(fl)
		}
		if err == nil {
			failures = 0
		} else if failures++; failures == lockTries || errors.Is(err, fs.ErrNotExist) {
			return nil, db.lockFailure(err)
		}
		w.announce(db)
		select {
		case <-ctx.Done():
			return nil, db.lockedError(ctx)
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

// tryLock tries once. A lock on a file that was removed or replaced since it was opened excludes
// no other process and does not count.
func tryLock(fl *flock.Flock) (bool, error) {
	ok, err := fl.TryLock()
	if !ok || err != nil {
		return false, err
	}
	there := false
	mine, err := fl.Stat()
	if err == nil {
		there, err = atomicfile.StillAt(fl.Path(), mine)
	}
	if there {
		return true, nil
	}
	return false, errors.Join(err, fl.Unlock())
}

// enter writes the record. The caller has the kernel lock; enter releases it on an error. A store that another
// process has sealed since it was opened is ErrSealed.
func (db *DB) enter(fl *flock.Flock) (*acquiredLock, error) {
	if IsSealed(db.dir) && !db.opt.sealed {
		return nil, errors.Join(sealedError(db.dir), fl.Unlock())
	}
	path := db.path(holderFile)
	record, h, ok, err := openHolder(path)
	if errors.Is(err, atomicfile.ErrNotRegular) || errors.Is(err, syscall.EISDIR) {
		if err = db.ClearWay(path); err == nil { // the record serves only messages
			record, h, ok, err = openHolder(path)
		}
	}
	if err == nil {
		if ok && h.foreign() {
			err = &LockedError{Path: path, Holder: h, foreign: true}
		} else {
			err = record.write(db.opt.Command)
		}
		if err == nil {
			if db.nonce == "" || db.nonce != record.nonce {
				db.disturbances++
			}
			return &acquiredLock{fl, record}, nil
		}
		record.file.Close()
	}
	fl.Unlock()
	if errors.Is(err, ErrLocked) {
		return nil, err
	}
	return nil, db.lockFailure(err)
}

func (db *DB) lockedError(ctx context.Context) error {
	return &LockedError{Path: db.path(lockFile), Holder: readHolder(db.path(holderFile)), cause: ctx.Err()}
}

func (db *DB) lockFailure(err error) error {
	if lerr := checkLayout(db.dir); lerr != nil && !db.opt.sealed {
		return fmt.Errorf("lock store %s: %w", db.dir, db.gone(lerr))
	}
	return fmt.Errorf("lock store %s: %w", db.dir, err)
}
