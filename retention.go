package cairn

import (
	"context"
	"errors"
	"time"
)

// Defaults of a Retention.
const (
	DefaultMaxAge   = 7 * 24 * time.Hour
	DefaultMinFree  = 1 << 30 // bytes
	DefaultKeepLast = 20
)

// Retention says what may be cleaned away. The zero value is the usual one. What is
// pinned, and the newest KeepLast checkpoints, never go.
type Retention struct {
	// MaxAge is how long a line lives after its last checkpoint: a day's checkpoints,
	// a session, the operations. 0 = DefaultMaxAge, NoLimit = for ever.
	MaxAge time.Duration

	MaxCount int   // checkpoints to keep, the oldest go first; 0 or NoLimit = any number
	MaxBytes int64 // size of the store to keep to, the oldest go first; 0 = DefaultBudget, NoLimit = any
	MinFree  int64 // bytes to leave free on the disk; 0 = DefaultMinFree, NoLimit = none
	KeepLast int   // newest checkpoints that live whatever the rest says; 0 = DefaultKeepLast, NoLimit = none
}

// CleanOptions says how to clean.
type CleanOptions struct {
	Retention
	DryRun   bool // change nothing, say what would go
	Thorough bool // drop every byte that is not needed, however much has to be copied for it
}

// Cleaned is the answer of Clean.
type Cleaned struct {
	Lines       []string `json:"lines"`       // that went: names of refs
	Checkpoints int      `json:"checkpoints"` // that went
	Kept        int      `json:"kept"`        // checkpoints that are left
	Freed       int64    `json:"freed"`       // bytes; of a dry run, an estimate
	Size        int64    `json:"size"`        // bytes of packs and loose objects now
	Peak        int64    `json:"peak"`        // bytes of temporary files, at most
	Packs       int      `json:"packs"`

	// OverBudget is by how many bytes the store is larger than it should be, because
	// what is left must not go.
	OverBudget int64 `json:"overBudget"`

	// Incomplete: somebody needed the store meanwhile. The next cleaning goes on.
	Incomplete bool `json:"incomplete"`

	// Blocked says why nothing was dropped: damage, behind which nobody knows what
	// is needed.
	Blocked error `json:"-"`
}

// Clean drops what opt lets go, and puts the packs in order. It gives way to
// whoever waits for the store.
func (r *Repo) Clean(ctx context.Context, opt CleanOptions) (*Cleaned, error) {
	return nil, errors.ErrUnsupported
}

// CleanIfDue cleans if the last cleaning is longer ago than every, and nobody else is
// at it. Otherwise it does nothing, at the price of reading one small file, and
// returns nil.
func (r *Repo) CleanIfDue(ctx context.Context, keep Retention, every time.Duration) (*Cleaned, error) {
	return nil, errors.ErrUnsupported
}
