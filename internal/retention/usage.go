package retention

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Usage is the size and the content of a store.
type Usage struct {
	Root        state.Path `json:"root"`
	Store       state.Path `json:"store"`
	Size        int64      `json:"size"`   // bytes of all files in the store; a pack that the user's repository shares counts as 0
	Files       int        `json:"files"`  // in the store
	Budget      int64      `json:"budget"` // default of Retention.MaxBytes for this store
	Checkpoints int        `json:"checkpoints"`
	Lines       int        `json:"lines"`
	Pins        int        `json:"pins"`
	Oldest      time.Time  `json:"oldest,omitzero"` // checkpoint
	Newest      time.Time  `json:"newest,omitzero"`
	Cleaned     time.Time  `json:"cleaned,omitzero"` // time of the last cleaning
}

// StoreSize returns the size in bytes of all files in the store: packs, refs, the stat cache and
// the rest. A pack that is shared with the user's repository counts as 0. Usage.Size and
// CleanResult.Size are the same number.
func (r *Cleaner) StoreSize() (int64, error) { return SizeOf(r.DB.Dir()) }

// SizeOf is StoreSize for the store in a directory.
func SizeOf(dir string) (int64, error) {
	size, _, err := odb.Measure(dir)
	return size, err
}

// Usage measures the store. It counts the checkpoints and lines that can be read.
func (r *Cleaner) Usage(ctx context.Context) (*Usage, error) {
	u := &Usage{Root: state.Path(r.Root), Store: state.Path(r.DB.Dir()), Budget: r.DefaultBudget()}
	if note := r.readNote(); note.Done {
		u.Cleaned = note.Time
	}
	var err error
	if u.Size, u.Files, err = odb.Measure(string(u.Store)); err != nil {
		return nil, err
	}
	s, err := NewSurvey(ctx, r.Store)
	if err != nil {
		return nil, err
	}
	lines := make(map[string]bool)
	for _, unit := range s.newest(false) {
		for _, line := range unit.lines {
			lines[line] = true
		}
		u.Checkpoints += unit.commits
		for _, id := range unit.ids {
			when := s.Known[id].when
			if u.Oldest.IsZero() || when.Before(u.Oldest) {
				u.Oldest = when
			}
			if when.After(u.Newest) {
				u.Newest = when
			}
		}
	}
	u.Lines = len(lines)
	pins, err := r.DB.Refs(history.RefPins)
	u.Pins = len(pins)
	return u, err
}
