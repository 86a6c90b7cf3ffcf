package copies

import (
	"errors"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// TestLookAtGitRemoved: another process has removed the store of the fork.
func TestLookAtGitRemoved(t *testing.T) {
	t.Parallel()
	gone := &RemovedFork{ForkInfo: ForkInfo{Root: "/fork", Store: state.Path(t.TempDir()), Branch: "cairn/fork"}}
	if err := new(Copier).LookAtGit(t.Context(), nil, gone); !errors.Is(err, state.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
