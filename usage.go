package cairn

import (
	"context"
	"errors"
	"time"
)

// Usage is what a store takes and holds.
type Usage struct {
	Root        string    `json:"root"`
	Store       string    `json:"store"`
	Size        int64     `json:"size"`   // bytes of all files
	Files       int       `json:"files"`  // in the store
	Budget      int64     `json:"budget"` // default of Retention.MaxBytes for this store
	Checkpoints int       `json:"checkpoints"`
	Lines       int       `json:"lines"`
	Pins        int       `json:"pins"`
	Oldest      time.Time `json:"oldest,omitzero"` // checkpoint
	Newest      time.Time `json:"newest,omitzero"`
	Cleaned     time.Time `json:"cleaned,omitzero"` // when it was last cleaned
}

// Usage measures the store.
func (r *Repo) Usage(ctx context.Context) (*Usage, error) { return nil, errors.ErrUnsupported }

// DefaultBudget is the size in bytes that the store keeps to unless a policy says
// otherwise: the smaller of 5 GiB and a tenth of what was free when it was made.
func (r *Repo) DefaultBudget() int64 { return 0 }
