package capture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// BegunError is the error of an operation that must not be repeated from the start.
type BegunError struct{ Err error }

// Error implements error.
func (e *BegunError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *BegunError) Unwrap() error { return e.Err }

// Purpose is what a batch is for. It decides how far the batch may use up the disk of the store.
type Purpose int

const (
	// ForCapture leaves Room.MinFree bytes of the disk free.
	ForCapture Purpose = iota

	// ForWayBack may use half of the free space, where Room.MinFree is more than the other half. A way back saves
	// little, and it may be what gives a full disk room again.
	ForWayBack

	// ForRecord has no limit: without the record of a finished operation the next command would repeat the operation.
	ForRecord
)

// NewBatch returns a batch that respects the Room.
func (r *Capturer) NewBatch(purpose Purpose) *odb.Batch {
	b := r.DB.NewBatch()
	if purpose != ForRecord && (r.Room.MinFree > 0 || r.Room.MaxBytes > 0) {
		b.Limit(r.room(purpose))
	}
	return b
}

// room returns a function that the batch calls before it writes bytes to the store. It reads the
// free space each time, so writes of other processes count. It sums its arguments, so its last
// refusal names what the whole batch needs.
func (r *Capturer) room(purpose Purpose) func(more int64) error {
	measured := false // for this batch
	least := r.Room.MinFree
	if purpose == ForWayBack {
		least = r.LeastFree(least)
	}
	var granted, need int64
	return func(more int64) error {
		if need += more; more < 0 {
			return nil
		}
		if r.Room.MinFree > 0 {
			if free, err := r.FreeSpace(); err == nil && free-(need-granted) < least {
				return &state.Shortage{Need: need, Text: fmt.Sprintf("%s free on the disk of %s, of which %s are to stay free, and %s are needed",
					wording.Size(free), r.DB.Dir(), wording.Size(least), wording.Size(need)), Step: "min_free_bytes, or free the disk"}
			}
		}
		if r.Room.MaxBytes > 0 {
			if err := r.withinBudget(need, need-granted, &measured); err != nil {
				return err
			}
		}
		granted = need
		return nil
	}
}

// measureAfter is the longest time that a measure of the store is used. Measuring means a stat of
// every file of the store.
const measureAfter = 10 * time.Second

// beside is the number of bytes that a small publish adds to the store beside its packs: refs, and
// the records of changed directories in the stat cache. A capture of large directories adds more;
// the next capture makes room for it.
const beside = 4 << 10

// withinBudget counts more bytes of a batch, which needs need bytes so far. It measures the store
// once for a batch that may come near the limit.
func (r *Capturer) withinBudget(need, more int64, measured *bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.last.size
	if !*measured && (time.Since(s.at) >= measureAfter || s.bytes+more > r.Room.MaxBytes/2) {
		size, err := r.DB.Size()
		if err != nil {
			return err
		}
		*s, *measured = storeSize{size, time.Now()}, true
	}
	if s.bytes+more+beside > r.Room.MaxBytes {
		return &state.Shortage{
			Need: need + beside,
			Text: fmt.Sprintf("%s has %s, may have %s, and needs %s more", r.DB.Dir(), wording.Size(s.bytes), wording.Size(r.Room.MaxBytes), wording.Size(more)),
			Step: "raise max_bytes",
		}
	}
	s.bytes += more
	return nil
}

// maxRooms is how often one capture makes room. Other processes may use up the room in between.
const maxRooms = 8

// Capturing runs f like Exclusive. If f finds no space, MakeRoom cleans the store, with the lock
// released, and f runs again, unless f has begun something that must not be repeated.
func (r *Capturer) Capturing(ctx context.Context, f func(*history.Locked) error) error {
	defer r.Trees.DropLarge()
	for n := 0; ; n++ {
		err := r.Exclusive(ctx, f)
		var begun *BegunError
		if !state.IsNoSpace(err) || errors.As(err, &begun) || n == maxRooms || r.Opt.Retention == nil || r.Opt.NoClean {
			return state.AsNoSpace(err)
		}
		if err := r.MakeRoom(ctx, state.AsNoSpace(err)); err != nil {
			return err
		}
	}
}
