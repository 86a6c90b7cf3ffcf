package capture

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// UserRepo finds the repository whose work tree contains the root. A broken .git counts as no
// repository: it has no rules and no index.
func UserRepo(root string) (*git.Repo, error) { return UserRepoOr(root, git.Named{}) }

// UserRepoOr is UserRepo for a caller that knows of a named repository.
func UserRepoOr(root string, named git.Named) (*git.Repo, error) {
	repo, err := git.FindNamed(root, named)
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

// Repository returns the user's repository around the root, nil if there is none.
func (r *Capturer) Repository() *git.Repo { return r.user.Load() }

// findRepository searches for the user's repository. A fork may lie inside the work tree of a
// repository that does not hold it: only one whose top it is, or that was named, is its own.
func (r *Capturer) findRepository() (*git.Repo, error) {
	repo, err := UserRepoOr(r.Root, git.Named{Dir: r.Opt.GitDir, WorkTree: r.Opt.GitWorkTree})
	if repo != nil && r.Opt.GitDir == "" && repo.Top != r.Root && r.Forked() != nil {
		return nil, err
	}
	return repo, err
}

// RefreshRepository searches for the user's repository again, so that a Repo that stays open sees
// one that the user has made or removed. The rules outside of the directory come and go with it. It
// is called before each capture.
func (r *Capturer) RefreshRepository() {
	repo, err := r.findRepository()
	if err != nil {
		r.Log.Warn("repository around the root not looked at again", "error", err)
		return
	}
	r.user.Store(repo)
}
