package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// JournalName is the name of the operation journal in the store.
const JournalName = "operation"

// Locked proves that the store's lock is held. A function that needs the lock takes one. Only
// Exclusive, Locked and InCollection hand one out, valid until the function that gets it returns.
type Locked struct {
	store *Store // whose lock is held; nil = no lock gave this token, or it was given back
}

// Holds panics if l is no valid token of this Store. The writing functions call it first: a token
// that a caller made, kept or got from another Store is a fault of the program.
func (r *Store) Holds(l *Locked) {
	if l == nil || l.store != r {
		panic("history: the lock of store " + r.Root + " is not held")
	}
}

// Untidy makes the next command look for the leftovers of killed processes.
func (l *Locked) Untidy() { l.store.tidied = time.Time{} }

// Exclusive runs f with the store's lock held. It first finishes interrupted operations, so no
// other command of cairn is changing the directory while f runs.
func (r *Store) Exclusive(ctx context.Context, f func(*Locked) error) error {
	return r.Locked(ctx, func(l *Locked) error {
		if time.Since(r.tidied) >= tidyAfter {
			if err := r.tidy(ctx, l); err != nil {
				return err
			}
		}
		return f(l)
	})
}

// UnderWay reports whether an operation has begun and has not ended. Its process may be alive or dead,
// which only the lock tells.
func (r *Store) UnderWay() bool {
	_, err := os.Lstat(r.DB.JournalPath(JournalName))
	return err == nil
}

// tidyAfter is the time after which leftovers of killed processes are searched for again, if no
// other process has held the lock. A process that was killed without the lock has left no more than
// temporary files.
const tidyAfter = 10 * time.Second

// tidy removes temporary files of killed writers and finishes an interrupted operation.
func (r *Store) tidy(ctx context.Context, l *Locked) error {
	if err := r.DB.Sweep(); err != nil {
		return err
	}
	if err := r.Recovery(ctx, l); err != nil {
		return fmt.Errorf("finish the interrupted operation: %w", err)
	}
	r.tidied = time.Now()
	return nil
}

// Locked runs f with the store's lock held, without finishing interrupted operations.
func (r *Store) Locked(ctx context.Context, f func(*Locked) error) (err error) {
	lockCtx, cancel := r.Waiting(ctx)
	defer cancel()
	unlock, err := r.DB.Lock(lockCtx)
	if err != nil {
		return err
	}
	l := r.token()
	done := false
	defer func() {
		if !done || err != nil {
			l.Untidy()
		}
		l.store = nil
		err = errors.Join(err, unlock())
	}()
	err = f(l)
	done = true
	return err
}

// Waiting returns the context of a wait for a lock, as Options.LockTimeout bounds it.
func (r *Store) Waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	return r.Opt.Waiting(ctx)
}

// token returns a token of the lock, which has just been taken.
func (r *Store) token() *Locked {
	l := &Locked{store: r}
	if n := r.DB.Disturbances(); n != r.disturbances {
		r.tidied, r.disturbances = time.Time{}, n
		r.Disturbed(l)
	}
	return l
}

// InCollection gives a callback of a garbage collection, which runs with the lock held, a token of
// the lock.
func (r *Store) InCollection(f func(l *Locked, gone, left []string) error) func(gone, left []string) error {
	return func(gone, left []string) error {
		l := r.token()
		defer func() { l.store = nil }()
		return f(l, gone, left)
	}
}
