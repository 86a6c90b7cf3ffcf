package cairn

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// newBatch is a batch that keeps to MinFree and Budget. What belongs to the record of
// an operation that is done is not held to them: without it the next command would do
// the operation again.
func (r *Repo) newBatch(recording bool) *odb.Batch {
	b := r.db.NewBatch()
	r.measured.begin()
	if !recording && (r.opt.MinFree > 0 || r.opt.Budget > 0) {
		b.Limit(r.room())
	}
	return b
}

// shortage is an ErrNoSpace that knows how many bytes are needed.
type shortage struct {
	need int64
	text string
	step string // that lifts the limit
}

func (s *shortage) Error() string { return ErrNoSpace.Error() + ": " + s.text }
func (s *shortage) Unwrap() error { return ErrNoSpace }

// room returns a function that is asked before bytes are written to the store. What
// others write to the disk meanwhile counts, too. It sums up what it is asked for, so that
// its last refusal says what all of a batch needs.
func (r *Repo) room() func(more int64) error {
	b := budget{repo: r}
	var granted, need int64
	return func(more int64) error {
		if need += more; more < 0 {
			return nil
		}
		if r.opt.MinFree > 0 {
			if free, err := r.freeSpace(); err == nil && free-(need-granted) < r.opt.MinFree {
				return &shortage{need, fmt.Sprintf("%s free on the disk of %s, of which %s are to stay free, and %s are needed",
					wording.Size(free), r.db.Dir(), wording.Size(r.opt.MinFree), wording.Size(need)), "min_free_bytes, or free the disk"}
			}
		}
		if r.opt.Budget > 0 {
			if err := b.allow(need - granted); err != nil {
				var short *shortage
				if errors.As(err, &short) {
					short.need = need
				}
				return err
			}
		}
		granted = need
		return nil
	}
}

// budget keeps one batch to Options.Budget.
type budget struct {
	repo  *Repo
	size  int64 // of the store, with what was allowed since
	exact bool  // it was measured for this batch
	known bool  // by an earlier measure
}

func (b *budget) allow(more int64) error {
	r := b.repo
	if !b.known && !b.exact {
		b.size, b.known = r.measured.known(r.db.PacksChanged())
	}
	if !b.exact && (!b.known || b.size+more > r.opt.Budget/2) { // near the end only a measure will do
		size, err := r.db.Size()
		if err != nil {
			return err
		}
		b.size, b.exact = size, true
		r.measured.measure(size)
	}
	if b.size+more > r.opt.Budget {
		return &shortage{more, fmt.Sprintf("%s has %s, may have %s, and needs %s more", r.db.Dir(), wording.Size(b.size), wording.Size(r.opt.Budget), wording.Size(more)), "raise max_bytes"}
	}
	b.size += more
	r.measured.wrote(more)
	return nil
}

// maxRooms is how often one capture makes room: others may take it meanwhile.
const maxRooms = 8

// capturing is exclusive for what captures. Where that finds no space, a cleaning makes
// room, which takes the lock itself, and it is tried again, unless it is too late.
func (r *Repo) capturing(ctx context.Context, f func() error) error {
	defer r.trees.dropLarge()
	for n := 0; ; n++ {
		err := r.exclusive(ctx, f)
		var begun *begunError
		if !isNoSpace(err) || errors.As(err, &begun) || n == maxRooms || r.opt.Retention == nil {
			return asNoSpace(err)
		}
		if err := r.makeRoom(ctx, asNoSpace(err)); err != nil {
			return err
		}
	}
}

// cleanForRoom cleans for a capture that has failed for want of space. An error says that it is
// not worth while to try again.
func (r *Repo) cleanForRoom(ctx context.Context, cause error) error {
	need, err := r.needed(cause)
	if err != nil {
		return errors.Join(cause, err)
	}
	keep := *r.opt.Retention
	if r.opt.Budget > 0 {
		keep.MaxBytes = r.opt.Budget
	}
	if r.opt.MinFree > 0 {
		keep.MinFree = r.opt.MinFree
	}
	done, err := r.clean(ctx, CleanOptions{Retention: keep, need: need})
	switch {
	case errors.Is(err, ErrBusy): // its room serves as well
		return r.db.WaitCollected(ctx)
	case err != nil:
		r.log.Warn("cleaning for want of space failed", "error", err)
		return fmt.Errorf("%w; making room failed: %w", cause, err)
	case done.Blocked != nil:
		return fmt.Errorf("%w; nothing can be dropped, because the store is damaged (cairn doctor --fix mends it): %w", cause, done.Blocked)
	case done.OverBudget > 0 && done.holds != nil && done.Freed <= 0: // else the system may give the room back late
		return fmt.Errorf("%w; %s", cause, done.holds.text(stepOf(cause)))
	case done.Freed <= 0 && !done.fits && !done.Incomplete && done.OverBudget == 0:
		return cause
	}
	return nil
}

// stepOf is what lifts the limit that a capture has met.
func stepOf(cause error) string {
	var short *shortage
	if errors.As(cause, &short) {
		return short.step
	}
	return "free the disk"
}

// needed is how many bytes a capture needs that has found no space. The system does not
// tell: then it is some part of the store.
func (r *Repo) needed(cause error) (int64, error) {
	var short *shortage
	if errors.As(cause, &short) {
		return max(1, short.need), nil
	}
	free, err := r.freeSpace()
	if err != nil {
		return 0, err
	}
	size, err := r.StoreSize()
	return free + max(size/budgetSlack, 1<<20), err
}

func isNoSpace(err error) bool { return errors.Is(err, ErrNoSpace) || atomicfile.IsFull(err) }

// asNoSpace makes an ErrNoSpace of what the system says about a full disk.
func asNoSpace(err error) error {
	if err == nil || errors.Is(err, ErrNoSpace) || !atomicfile.IsFull(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNoSpace, err)
}
