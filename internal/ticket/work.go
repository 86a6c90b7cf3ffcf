package ticket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// Work does the work of a request. Work that failed returns an answer with faults. An
// error means that the work is not done, for instance because it was interrupted: the
// ticket then has no answer, and the next process does the work. died tells that an
// earlier process began the work and left no answer.
type Work func(ctx context.Context, r *Request, died bool) (*Answer, error)

// The pauses between two attempts to get a lock are short, so that a caller that waits
// goes on as soon as the answer is there.
const (
	firstPause = time.Millisecond
	maxPause   = 10 * time.Millisecond
)

// Finish returns the answer of a ticket. While another process does the work, Finish
// waits for it until ctx ends; otherwise Finish does the work itself. The error wraps
// cairn.ErrNotFound for an id without a ticket.
func (b Book) Finish(ctx context.Context, id string, work Work) (a *Answer, err error) {
	perr := poll(ctx, func() bool {
		var free bool
		a, free, err = b.try(ctx, id, work)
		return a != nil || free || err != nil
	})
	if perr != nil {
		return nil, perr
	}
	return a, err
}

// poll calls done until it returns true or ctx ends.
func poll(ctx context.Context, done func() bool) error {
	for pause := firstPause; !done(); pause = min(maxPause, 2*pause) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
	return nil
}

// FinishSteps is Finish for every ticket of a step of a session, or for the tickets that
// are older than before. Failures of the steps stand in their answers alone.
func (b Book) FinishSteps(ctx context.Context, root, session, before string, work func(id string) Work) error {
	_, pending, err := b.Steps(root, session)
	for _, id := range pending {
		if err != nil || id == before {
			return err
		}
		if _, err = b.Finish(ctx, id, work(id)); errors.Is(err, cairn.ErrNotFound) {
			err = nil // swept
		}
	}
	return err
}

// FinishAll is Finish for every ticket of a root. Failures of the work stand in the answers alone.
func (b Book) FinishAll(ctx context.Context, root string, work func(id string) Work) error {
	ids, err := b.List()
	for _, id := range ids {
		if err != nil {
			return err
		}
		r, unreadable := b.Request(id)
		if unreadable != nil || string(r.Root) != root || b.Answer(id) != nil {
			continue
		}
		if _, err = b.Finish(ctx, id, work(id)); errors.Is(err, cairn.ErrNotFound) {
			err = nil // swept
		}
	}
	return err
}

// Start does the work of a ticket unless another process does it or has done it.
func (b Book) Start(ctx context.Context, id string, work Work) error {
	_, _, err := b.try(ctx, id, work)
	return err
}

// Await waits for the answer and never does the work. It returns nil when ctx ends
// first.
func (b Book) Await(ctx context.Context, id string) (a *Answer) {
	_ = poll(ctx, func() bool { // nil says that ctx has ended
		a = b.Answer(id)
		return a != nil
	})
	return a
}

// Claimed reports whether a process works on a ticket.
func (b Book) Claimed(id string) bool {
	l, ok, err := b.claim(id)
	if ok {
		l.Close()
	}
	return !ok && err == nil
}

// try returns the answer, or does the work if no other process is at it. free is false
// while another process holds the lock.
func (b Book) try(ctx context.Context, id string, work Work) (a *Answer, free bool, err error) {
	if _, err := b.Request(id); err != nil {
		return nil, false, err
	}
	if a := b.Answer(id); a != nil {
		return a, false, nil
	}
	l, ok, err := b.claim(id)
	if err != nil || !ok {
		return nil, false, err
	}
	defer func() {
		err = errors.Join(err, l.Close())
		if a != nil {
			os.Remove(l.Path()) // the next holder finds the answer
		}
	}()
	// Before the lock was held, another process may have answered, or swept the ticket.
	r, err := b.Request(id)
	if err != nil {
		os.Remove(l.Path()) // the claim has made it for a ticket that is gone
		return nil, true, err
	}
	if a := b.Answer(id); a != nil {
		return a, true, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, true, err
	}
	died, err := b.begin(id)
	if err != nil {
		return nil, true, err
	}
	if a, err = work(ctx, r, died); err != nil {
		return nil, true, err
	}
	if err := b.write(id, a); err != nil {
		return nil, true, err
	}
	os.Remove(b.path(id, begunSuffix)) // the answer makes it useless
	return a, true, nil
}

func (b Book) claim(id string) (l *flock.Flock, ok bool, err error) {
	l = flock.New(b.path(id, lockSuffix), flock.SetPermissions(0o600))
	if ok, err = l.TryLock(); err != nil {
		return nil, false, fmt.Errorf("lock a ticket: %w", err)
	}
	return l, ok, nil
}

// begin records that work begins, and reports whether it had begun before.
func (b Book) begin(id string) (died bool, err error) {
	f, err := os.OpenFile(b.path(id, begunSuffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("begin a ticket: %w", err)
	}
	return false, f.Close()
}

// Kept is the time for which a ticket is kept, and maxKept the number of answered
// tickets that are kept.
const (
	Kept    = 24 * time.Hour
	maxKept = 1000
)

// Sweep removes the tickets that are older than Kept, and all but the newest maxKept of
// the answered ones. A ticket whose work is under way stays.
func (b Book) Sweep(now time.Time) error {
	ids, err := b.List()
	if err != nil {
		return err
	}
	for i, id := range ids {
		at, _ := madeAt(id)
		if now.Sub(at) < Kept && (len(ids)-i <= maxKept || b.Answer(id) == nil) {
			continue
		}
		err = errors.Join(err, b.drop(id))
	}
	return err
}

// drop removes the request first: without it there is no ticket.
func (b Book) drop(id string) error {
	l, ok, err := b.claim(id)
	if err != nil || !ok {
		return err
	}
	for _, suffix := range []string{requestSuffix, answerSuffix, begunSuffix} {
		if rerr := atomicfile.RemoveIfThere(b.path(id, suffix)); rerr != nil {
			err = errors.Join(err, fmt.Errorf("sweep tickets: %w", rerr))
		}
	}
	err = errors.Join(err, l.Close())
	// A lock that another process waits for cannot be removed on every system. It stays
	// as an empty file, and no function reads it.
	os.Remove(l.Path())
	return err
}
