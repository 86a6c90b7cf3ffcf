package capture

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// UserRepo finds the repository whose work tree the root lies in. A broken .git
// means that there is none, hence no rules and no index of one.
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

// Surroundings is what was found around the root when it was last looked for.
type Surroundings struct {
	Repo *git.Repo // the user's repository, nil if there is none
	mark git.Mark
}

func LookAround(root string) (*Surroundings, error) {
	mark := git.MarkOf(root)
	repo, err := UserRepo(root)
	return &Surroundings{repo, mark}, err
}

// Repository is the user's repository around the root, nil if there is none.
func (r *Capturer) Repository() *git.Repo { return r.User.Load().Repo }

// refreshRepository has a Repo that stays open learn that the user has made a repository,
// or removed one: with it go the rules that lie outside of the directory. It is called
// before each capture.
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
