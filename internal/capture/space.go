package capture

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// BegunError is that of an operation which must not be tried once more from the start.
type BegunError struct{ Err error }

func (e *BegunError) Error() string { return e.Err.Error() }

func (e *BegunError) Unwrap() error { return e.Err }

// NewBatch is a batch that keeps to MinFree and Budget. What belongs to the record of
// an operation that is done is not held to them: without it the next command would do
// the operation again.
func (r *Capturer) NewBatch(recording bool) *odb.Batch {
	b := r.DB.NewBatch()
	r.measured.begin()
	if !recording && (r.Opt.MinFree > 0 || r.Opt.Budget > 0) {
		b.Limit(r.room())
	}
	return b
}

// room returns a function that is asked before bytes are written to the store. What
// others write to the disk meanwhile counts, too. It sums up what it is asked for, so that
// its last refusal says what all of a batch needs.
func (r *Capturer) room() func(more int64) error {
	b := budget{repo: r}
	var granted, need int64
	return func(more int64) error {
		if need += more; more < 0 {
			return nil
		}
		if r.Opt.MinFree > 0 {
			if free, err := r.FreeSpace(); err == nil && free-(need-granted) < r.Opt.MinFree {
				return &state.Shortage{Need: need, Text: fmt.Sprintf("%s free on the disk of %s, of which %s are to stay free, and %s are needed",
					wording.Size(free), r.DB.Dir(), wording.Size(r.Opt.MinFree), wording.Size(need)), Step: "min_free_bytes, or free the disk"}
			}
		}
		if r.Opt.Budget > 0 {
			if err := b.allow(need - granted); err != nil {
				var short *state.Shortage
				if errors.As(err, &short) {
					short.Need = need
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
	repo  *Capturer
	size  int64 // of the store, with what was allowed since
	exact bool  // it was measured for this batch
	known bool  // by an earlier measure
}

func (b *budget) allow(more int64) error {
	r := b.repo
	if !b.known && !b.exact {
		b.size, b.known = r.measured.known(r.DB.PacksChanged())
	}
	if !b.exact && (!b.known || b.size+more > r.Opt.Budget/2) { // near the end only a measure will do
		size, err := r.DB.Size()
		if err != nil {
			return err
		}
		b.size, b.exact = size, true
		r.measured.measure(size)
	}
	if b.size+more > r.Opt.Budget {
		return &state.Shortage{Need: more, Text: fmt.Sprintf("%s has %s, may have %s, and needs %s more", r.DB.Dir(), wording.Size(b.size), wording.Size(r.Opt.Budget), wording.Size(more)), Step: "raise max_bytes"}
	}
	b.size += more
	r.measured.wrote(more)
	return nil
}

// maxRooms is how often one capture makes room: others may take it meanwhile.
const maxRooms = 8

// Capturing is exclusive for what captures. Where that finds no space, a cleaning makes
// room, which takes the lock itself, and it is tried again, unless it is too late.
func (r *Capturer) Capturing(ctx context.Context, f func() error) error {
	defer r.Trees.DropLarge()
	for n := 0; ; n++ {
		err := r.Exclusive(ctx, f)
		var begun *BegunError
		if !state.IsNoSpace(err) || errors.As(err, &begun) || n == maxRooms || r.Opt.Retention == nil {
			return state.AsNoSpace(err)
		}
		if err := r.MakeRoom(ctx, state.AsNoSpace(err)); err != nil {
			return err
		}
	}
}
