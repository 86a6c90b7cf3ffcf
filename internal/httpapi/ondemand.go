package httpapi

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// NewClaimOnDemand claims a data directory for a server on demand. It returns nil where another
// server is there, or is about to be. A server on demand of another build is told to end first.
func NewClaimOnDemand(ctx context.Context, dataDir, build string) (*Claim, error) {
	claim, err := newClaimAfter(ctx, dataDir, func(r *protocol.Running) bool { return r.Build != build })
	if errors.Is(err, ErrServed) {
		return nil, nil
	}
	return claim, err
}

// NewClaimByHand claims a data directory for a server that a person starts. A server on demand is told to end
// first: it has no page, and hooks take this one. Errors wrap ErrServed.
func NewClaimByHand(ctx context.Context, dataDir string) (*Claim, error) {
	return newClaimAfter(ctx, dataDir, func(*protocol.Running) bool { return true })
}

// newClaimAfter claims a data directory, after the end of a server on demand for which ends is true.
func newClaimAfter(ctx context.Context, dataDir string, ends func(*protocol.Running) bool) (*Claim, error) {
	claim, served := NewClaim(dataDir)
	if !errors.Is(served, ErrServed) {
		return claim, served
	}
	// One process at a time replaces a server: a second signal would end it in the middle of its work.
	lock := flock.New(filepath.Join(protocol.Dir(dataDir), "replace"), flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil {
		return nil, err
	} else if !ok {
		return nil, served
	}
	defer lock.Close()
	r := protocol.ReadRunning(dataDir)
	if !r.Alive() || !ends(r) || !r.Terminate() {
		return nil, served
	}
	for alive := true; alive && errors.Is(served, ErrServed); {
		select {
		case <-ctx.Done():
			return nil, served
		case <-time.After(claimPause):
		}
		alive = r.Alive()
		claim, served = NewClaim(dataDir)
	}
	return claim, served
}

// claimPause is the time between two looks whether a server has ended.
const claimPause = 20 * time.Millisecond
