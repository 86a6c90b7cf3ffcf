package capture

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// Capturer turns the disk into states of a store.
type Capturer struct {
	*history.Store

	// MakeRoom cleans the store after a capture that failed because the disk was full. An error
	// means that a second attempt is pointless.
	MakeRoom func(ctx context.Context, cause error) error

	User  atomic.Pointer[Surroundings]
	Fresh *FreshStore // nil = the store existed before
	Watch *watching   // nil = Options.Watch is not set

	// Guarded by the store's lock.
	Kept      KeptIndex
	described described
	measured  measured

	lastAux atomic.Pointer[decodedAux]
}

// New returns a Capturer of a store.
func New(s *history.Store, around *Surroundings) *Capturer {
	r := &Capturer{Store: s}
	r.User.Store(around)
	if s.Opt.Watch {
		r.Watch = NewWatching()
	}
	return r
}

// Forget drops the caches of the last capture. It is called when another process has held the lock
// since.
func (r *Capturer) Forget() {
	r.Tidied, r.Kept = time.Time{}, KeptIndex{}
	if !r.DB.ShowsChanges() { // else the times of the files show the change
		r.Watch.Distrust()
	}
}
