package transfer

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// FetchProject brings the lines of the project that has a key on the remote. cairn.Repo.FetchProject
// states the contract.
func (r *Transport) FetchProject(ctx context.Context, where, key string) (fetched []string, err error) {
	if !identity.IsKey(key) {
		return nil, state.NotFound("no project %q", key)
	}
	return r.fetchLines(ctx, where, &wanted{specs: []string{lineSpec(key), aboutSpec(key)}, keys: []string{key}})
}
