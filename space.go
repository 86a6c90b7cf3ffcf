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

// room returns a function that is asked before bytes are written to the store. What
// others write to the disk meanwhile counts, too.
func (r *Repo) room() func(more int64) error {
	b := budget{repo: r}
	return func(more int64) error {
		if r.opt.MinFree > 0 {
			if free, err := r.db.FreeSpace(); err == nil && free-more < r.opt.MinFree {
				return fmt.Errorf("%w: %s free on the disk of %s, of which %s are to stay free", ErrNoSpace, wording.Size(free), r.db.Dir(), wording.Size(r.opt.MinFree))
			}
		}
		if r.opt.Budget > 0 {
			return b.allow(more)
		}
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
		return fmt.Errorf("%w: %s has %s, and may have %s", ErrNoSpace, r.db.Dir(), wording.Size(b.size), wording.Size(r.opt.Budget))
	}
	b.size += more
	r.measured.wrote(more)
	return nil
}

// capturing is exclusive for what captures. Where that finds no space, it is tried
// once more after a cleaning, which takes the lock itself, unless it is too late.
func (r *Repo) capturing(ctx context.Context, f func() error) error {
	defer r.trees.dropLarge()
	err := r.exclusive(ctx, f)
	var begun *begunError
	if isNoSpace(err) && !errors.As(err, &begun) && r.madeRoom(ctx) {
		err = r.exclusive(ctx, f)
	}
	return asNoSpace(err)
}

// madeRoom cleans, if that is wanted, and reports whether it is worth while to try
// again.
func (r *Repo) madeRoom(ctx context.Context) bool {
	if r.opt.Retention == nil {
		return false
	}
	cleaned, err := r.clean(ctx, CleanOptions{Retention: *r.opt.Retention})
	if err != nil {
		r.log.Warn("cleaning for want of space failed", "error", err)
		return false
	}
	return cleaned.Freed > 0
}

func isNoSpace(err error) bool { return errors.Is(err, ErrNoSpace) || atomicfile.IsFull(err) }

// asNoSpace makes an ErrNoSpace of what the system says about a full disk.
func asNoSpace(err error) error {
	if err == nil || errors.Is(err, ErrNoSpace) || !atomicfile.IsFull(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNoSpace, err)
}
