package cairn

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// UserRepo finds the repository whose work tree the root lies in. A broken .git
// means that there is none, hence no rules and no index of one.
func UserRepo(root string) (*git.Repo, error) {
	repo, err := git.Find(root)
	if err != nil || repo == nil {
		return nil, nil
	}
	if repo.Holds(root) {
		return nil, fmt.Errorf("%w: %s lies inside the git directory of a repository, which is never captured", ErrRoot, root)
	}
	if repo.Top == "" {
		return nil, nil
	}
	return repo, nil
}
