package cli

import (
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

const gitDirVariable, workTreeVariable = "GIT_DIR", "GIT_WORK_TREE"

// namedGit is the repository that GIT_DIR names, if it is that of a directory: see [git.Named.Around].
// Both paths of the result are set, or none.
//
// Relative paths do not count. Git gives its hooks such: in another directory they name something else.
//
// A repository around the home directory counts for that directory alone. Programs below it are
// projects of their own, and a root that is a home directory is refused.
func (c *Program) namedGit(dir string) git.Named {
	n := git.Named{Dir: c.Env(gitDirVariable), WorkTree: c.Env(workTreeVariable)}
	if !filepath.IsAbs(n.Dir) || n.WorkTree != "" && !filepath.IsAbs(n.WorkTree) {
		return git.Named{}
	}
	repo, err := n.Around(dir)
	if err != nil || repo == nil || repo.Top != dir && c.isHome(repo.Top) {
		return git.Named{}
	}
	return git.Named{Dir: repo.GitDir, WorkTree: repo.Top}
}

// isHome reports whether a directory is a home directory, or holds the user's.
func (c *Program) isHome(dir string) bool {
	home, err := realpath.Of(c.Home())
	return err == nil && realpath.Within(home, dir) || slices.ContainsFunc(Homes, func(pattern string) bool {
		ok, _ := filepath.Match(pattern, dir)
		return ok
	})
}

// WithGit returns an environment that names a repository, or none, instead of that which env names.
func WithGit(env func(string) string, n git.Named) func(string) string {
	return func(name string) string {
		switch name {
		case gitDirVariable:
			return n.Dir
		case workTreeVariable:
			return n.WorkTree
		}
		return env(name)
	}
}
