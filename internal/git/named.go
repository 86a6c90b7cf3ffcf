package git

import (
	"fmt"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// Named is a repository that GIT_DIR names, and GIT_WORK_TREE, for one whose work tree holds no .git.
// The zero value names none.
type Named struct {
	Dir      string // absolute; the git directory, or a .git file
	WorkTree string // absolute; "" = core.worktree of the repository
}

// FindNamed is [Find] for a caller that knows of a named repository: that one is found where it counts
// (see [Named.Around]).
func FindNamed(dir string, n Named) (*Repo, error) {
	if r, err := n.Around(dir); err != nil || r != nil {
		return r, err
	}
	return Find(dir)
}

// Around returns the named repository if its work tree encloses dir, and no other repository lies between the two. It
// returns nil otherwise.
//
// Git takes the current directory for the work tree where neither variable nor configuration names one.
// Around does not: git sets GIT_DIR for its hooks, and a process below a hook that works in another
// directory would be given the files of one repository and the refs of another.
func (n Named) Around(dir string) (*Repo, error) {
	if n.Dir == "" {
		return nil, nil
	}
	start, err := filepath.Abs(dir)
	if err == nil {
		start, err = filepath.EvalSymlinks(start)
	}
	if err != nil {
		return nil, fmt.Errorf("find repository of %s: %w", dir, err)
	}
	r := n.repo()
	if r == nil || !realpath.Within(start, r.Top) || r.Holds(start) {
		return nil, nil
	}
	if nearer := ascend(start, sameDevice); nearer != nil && (nearer.Holds(start) || nearer.Top != r.Top && realpath.Within(nearer.Top, r.Top)) {
		return nil, nil
	}
	return r, nil
}

// repo returns the named repository, nil if there is none or no work tree is named.
func (n Named) repo() *Repo {
	at, found := dotGit(n.Dir)
	if found != present {
		return nil
	}
	f, top := readFormat(at), n.WorkTree
	switch {
	case top != "":
	case f.worktree == "" || f.bare: // git refuses a bare repository with core.worktree
		return nil
	case filepath.IsAbs(f.worktree):
		top = f.worktree
	default:
		top = filepath.Join(at.git, f.worktree)
	}
	if !isDir(top) {
		return nil
	}
	r := &Repo{Top: resolved(top), GitDir: at.git, CommonDir: at.common, SHA256: f.sha256}
	if spelled := filepath.Clean(n.Dir); spelled != at.git && isDir(spelled) {
		r.spelled = spelled
	}
	return r
}
