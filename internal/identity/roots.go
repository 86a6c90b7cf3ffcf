package identity

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
)

// Why a repository names no project.
var (
	ErrNoCommit = errors.New("the git repository has no commit yet")
	ErrShallow  = errors.New("the git repository is a shallow clone, without its first commits (git fetch --unshallow brings them)")
	ErrSHA256   = errors.New("the git repository has object names of 32 bytes, which cairn does not read")
)

// Of finds what the project at root, a real path, is known by now. known is what it was known by
// before. An id that the user gave stays. A repository that still holds the known root commit is the
// same project, whatever is checked out. A repository without it is another project. Where no root
// commit can be read, what was known stays, and why says the reason; it is nil where there is no
// repository.
func Of(ctx context.Context, repo *git.Repo, root string, known Project) (p Project, why, err error) {
	if repo == nil || known.Given != "" {
		return known, nil, nil
	}
	within, err := filepath.Rel(repo.Top, root)
	if err != nil {
		return known, err, nil
	}
	if within == "." {
		within = ""
	}
	r := openReader(repo)
	defer r.dirs.Close()
	if r.holds(known.Root) && filepath.ToSlash(within) == string(known.Within) {
		return known, nil, nil
	}
	id, why, err := r.root(ctx)
	if err != nil || why != nil {
		return known, why, err
	}
	p.Root = id.String()
	p.Within = pathtext.Text(filepath.ToSlash(within))
	return p, nil, nil
}

// reader reads the commits of a repository from its files.
type reader struct {
	repo *git.Repo
	dirs odb.ObjectDirs
}

func openReader(repo *git.Repo) *reader {
	r := &reader{repo: repo}
	if repo.SHA256 {
		return r
	}
	r.dirs = odb.OpenObjectDirs(repo.ObjectDirs())
	return r
}

// holds reports whether the repository has the commit of a text.
func (r *reader) holds(text string) bool {
	id, err := object.ParseID(text)
	if err != nil {
		return false
	}
	c, err := r.dirs.Commit(id)
	return err == nil && c != nil
}

// root follows the first parents of HEAD. A history that was merged into another one does not change
// the root of that.
func (r *reader) root(ctx context.Context) (id object.ID, why, err error) {
	if r.repo.SHA256 {
		return id, ErrSHA256, nil
	}
	state, err := r.state(ctx)
	if err != nil {
		return id, nil, err
	}
	if id, err = object.ParseID(state.Commit()); err != nil {
		return id, ErrNoCommit, nil
	}
	shallow := make(map[string]bool)
	for line := range strings.Lines(string(state.Files[gitstate.CommonPrefix+"shallow"])) {
		shallow[strings.TrimSpace(line)] = true
	}
	for seen := make(map[object.ID]bool); ; {
		if err := ctx.Err(); err != nil {
			return id, nil, err
		}
		if shallow[id.String()] {
			return id, ErrShallow, nil
		}
		c, err := r.dirs.Commit(id)
		if err != nil {
			return id, fmt.Errorf("the history of the git repository cannot be read: %w", err), nil
		}
		if len(c.Parents) == 0 {
			return id, nil, nil
		}
		if seen[id] = true; seen[c.Parents[0]] {
			return id, fmt.Errorf("the history of the git repository is a circle at %s", id), nil
		}
		id = c.Parents[0]
	}
}

// state reads HEAD. A git program helps where the refs have a format other than files.
func (r *reader) state(ctx context.Context) (*gitstate.Record, error) {
	binary, _ := git.LookBinary() // without one, such a HEAD is not known
	state, _, err := (&gitstate.Reader{Repo: r.repo, Git: binary}).Read(ctx)
	return state, err
}
