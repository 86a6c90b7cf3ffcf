package capture

import (
	"context"
	"sync"
	"sync/atomic"

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

	mu   sync.Mutex // guards last for unchanged, which does not hold the store's lock
	last lastCapture
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
