package capture

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/secretrules"
)

// Capturer turns the disk into states of a store.
type Capturer struct {
	*history.Store

	// MakeRoom cleans the store after a capture that failed because the disk was full. An error
	// means that a second attempt is pointless.
	MakeRoom func(ctx context.Context, cause error) error

	user  atomic.Pointer[git.Repo] // see Repository
	Fresh *FreshStore              // nil = the store existed before
	Watch *watching                // nil = Options.Watch is not set
	git   gitMemory

	directory identity.Directory // as the store has it, see noteDirectory; the lock guards it

	secretOnce sync.Once
	secretFile *secretrules.Rules // see SecretRules
	secretErr  error

	mu   sync.Mutex // guards last for unchanged, which does not hold the store's lock
	last lastCapture
}

// New returns a Capturer of a store. repo is the user's repository around the root, nil for none.
func New(s *history.Store, repo *git.Repo) *Capturer {
	r := &Capturer{Store: s}
	r.user.Store(repo)
	if s.Opt.Watch {
		r.Watch = NewWatching()
	}
	return r
}
