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
	claim, err := NewClaim(dataDir)
	if !errors.Is(err, ErrServed) {
		return claim, err
	}
	// One process at a time replaces a server: a second signal would end it in the middle of its work.
	lock := flock.New(filepath.Join(protocol.Dir(dataDir), "replace"), flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return nil, err
	}
	defer lock.Close()
	r := protocol.ReadRunning(dataDir)
	if !r.Alive() || r.Build == build || !r.Terminate() {
		return nil, nil
	}
	for ; errors.Is(err, ErrServed); claim, err = NewClaim(dataDir) {
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(claimPause):
		}
	}
	return claim, err
}

// claimPause is the time between two looks whether a server has ended.
const claimPause = 20 * time.Millisecond
