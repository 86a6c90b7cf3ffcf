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

// Work does what a request asks for. An error means that it was not done, as where
// somebody interrupted it: there is no answer then, and the next one does it. What
// failed is an answer with faults. died tells that somebody had begun before and has
// left without an answer.
type Work func(ctx context.Context, r *Request, died bool) (*Answer, error)

// How often a lock that is held is tried again: who waits is to go on at once when the
// answer is there.
const (
	firstPause = time.Millisecond
	maxPause   = 10 * time.Millisecond
)

// Finish returns the answer of a ticket. It waits until ctx ends for whoever is at
// work on it; where nobody is, it does the work itself. The error wraps
// cairn.ErrNotFound if there is no such ticket.
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

// poll tries until something is done, or ctx ends.
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

// FinishSteps is Finish for every step of a session that was to begin in the
// background, or for those asked for before one of them. What became of them is in
// their answers.
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

// Start does the work of a ticket unless somebody is at it or has done it.
func (b Book) Start(ctx context.Context, id string, work Work) error {
	_, _, err := b.try(ctx, id, work)
	return err
}

// Await waits for the answer and never does the work: nil when ctx has ended before.
func (b Book) Await(ctx context.Context, id string) (a *Answer) {
	_ = poll(ctx, func() bool { // that it has ended is told by nil
		a = b.Answer(id)
		return a != nil
	})
	return a
}

// Taken reports whether somebody is at work on a ticket.
func (b Book) Taken(id string) bool {
	l, ok, err := b.claim(id)
	if ok {
		l.Close()
	}
	return !ok && err == nil
}

// try returns the answer, or does the work if nobody else is at it, which free tells.
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
			os.Remove(l.Path()) // whoever still gets it finds the answer
		}
	}()
	// Between the look and the lock somebody may have answered, or swept.
	r, err := b.Request(id)
	if err != nil {
		os.Remove(l.Path()) // made by the claim, of use to nobody
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
	os.Remove(b.path(id, begunSuffix)) // of no more use
	return a, true, nil
}

func (b Book) claim(id string) (l *flock.Flock, ok bool, err error) {
	l = flock.New(b.path(id, lockSuffix), flock.SetPermissions(0o600))
	if ok, err = l.TryLock(); err != nil {
		return nil, false, fmt.Errorf("lock a ticket: %w", err)
	}
	return l, ok, nil
}

// begin notes that somebody has begun, and reports whether somebody had before.
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

// Kept is how long a ticket is kept, and maxKept how many answered ones are.
const (
	Kept    = 24 * time.Hour
	maxKept = 1000
)

// Sweep takes the tickets away whose time is over: those made before now less Kept,
// and of the answered ones all but the newest. One that somebody is at work on stays.
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

// drop removes the request first: from then on there is no such ticket.
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
	// Where a lock cannot be removed because somebody else waits for it, it stays: an
	// empty file, which nothing looks at.
	os.Remove(l.Path())
	return err
}
