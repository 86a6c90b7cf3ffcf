package capture

import (
	"errors"
	"io/fs"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Tracked reports whether the user's own repository has a file of the root under version control.
// Then every author of the repository can change that file. Without a readable index the result is
// true. It does not run git. named is a repository that the caller knows of.
func Tracked(root, name string, named git.Named) (bool, error) {
	root, err := state.ResolveRoot(root)
	if err != nil {
		return false, err
	}
	user, err := UserRepoOr(root, named)
	if err != nil || user == nil {
		return false, err
	}
	prefix, ok := prefixBelow(user.Top, root)
	if !ok {
		return true, nil
	}
	list, err := git.ReadIndex(user.IndexPath(), user.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // nothing was ever added
	}
	if err != nil {
		return true, nil
	}
	return list.Contains(prefix + name), nil
}
