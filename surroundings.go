package cairn

import "github.com/seed-fb9cbc17/cairn/internal/git"

// surroundings is what was found around the root when it was last looked for.
type surroundings struct {
	repo *git.Repo // the user's repository, nil if there is none
	mark git.Mark
}

func lookAround(root string) (*surroundings, error) {
	mark := git.MarkOf(root)
	repo, err := userRepo(root)
	return &surroundings{repo, mark}, err
}

// repository is the user's repository around the root, nil if there is none.
func (r *Repo) repository() *git.Repo { return r.user.Load().repo }

// refreshRepository has a Repo that stays open learn that the user has made a repository,
// or removed one: with it go the rules that lie outside of the directory. It is called
// before each capture.
func (r *Repo) refreshRepository() {
	if r.user.Load().mark.Same(git.MarkOf(r.root)) {
		return
	}
	now, err := lookAround(r.root)
	if err != nil {
		r.log.Warn("repository around the root not looked at again", "error", err)
		return
	}
	r.user.Store(now)
}
