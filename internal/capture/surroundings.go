package capture

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// UserRepo finds the repository whose work tree contains the root. A broken .git counts as no
// repository: it has no rules and no index.
func UserRepo(root string) (*git.Repo, error) {
	repo, err := git.Find(root)
	if err != nil || repo == nil {
		return nil, nil
	}
	if repo.Holds(root) {
		return nil, fmt.Errorf("%w: %s lies inside the git directory of a repository, which is never captured", state.ErrRoot, root)
	}
	if repo.Top == "" {
		return nil, nil
	}
	return repo, nil
}

// Surroundings is the result of the last search for the user's repository around the root.
type Surroundings struct {
	Repo *git.Repo // the user's repository, nil if there is none
	mark git.Mark
}

// LookAround searches for the user's repository around a root.
func LookAround(root string) (*Surroundings, error) {
	mark := git.MarkOf(root)
	repo, err := UserRepo(root)
	return &Surroundings{repo, mark}, err
}

// Repository returns the user's repository around the root, nil if there is none.
func (r *Capturer) Repository() *git.Repo { return r.User.Load().Repo }

// refreshRepository searches for the user's repository again if the surroundings have changed, so
// that a Repo that stays open sees a repository that the user has made or removed. The rules
// outside of the directory come and go with it. It is called before each capture.
func (r *Capturer) refreshRepository() {
	if r.User.Load().mark.Same(git.MarkOf(r.Root)) {
		return
	}
	now, err := LookAround(r.Root)
	if err != nil {
		r.Log.Warn("repository around the root not looked at again", "error", err)
		return
	}
	r.User.Store(now)
}
