package cairn

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// dirLookup answers what a state says about single directories. It is made once for many
// questions: a tree holds no directory without captured files, and the lists of those
// directories have no order to search by.
type dirLookup struct {
	repo *Repo
	state
	empty, bare map[string]bool
}

// dirEnd is a directory at one end of a step.
type dirEnd struct {
	there, bare bool
	perm        uint16
}

func (r *Repo) lookupDirs(s state) *dirLookup {
	return &dirLookup{r, s, pathSet(s.meta.Empty), pathSet(s.meta.Bare)}
}

func pathSet(list []pathText) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, path := range list {
		set[string(path)] = true
	}
	return set
}

// lists reports whether a path is a directory that no tree holds.
func (l *dirLookup) lists(path string) bool { return l.empty[path] || l.bare[path] }

func (l *dirLookup) at(path string) (dirEnd, error) {
	e, err := l.repo.entryOrNil(l.tree, path)
	if err != nil {
		return dirEnd{}, err
	}
	there := l.lists(path) || e != nil && e.Mode == object.Dir
	return dirEnd{there, l.bare[path], l.meta.perm(path, object.Dir)}, nil
}

// holds reports whether anything is at a path: a file, a symlink or a directory.
func (l *dirLookup) holds(path string) (bool, error) {
	e, err := l.repo.entryOrNil(l.tree, path)
	return e != nil || l.lists(path), err
}

// walkDir yields the files and symlinks below a directory of a tree. It reads no tree
// beside those on the way to the directory and below it.
func (r *Repo) walkDir(ctx context.Context, tree object.ID, dir string) iter.Seq2[treeChange, error] {
	return func(yield func(treeChange, error) bool) {
		e, err := r.entryOrNil(tree, dir)
		if err == nil && (e == nil || e.Mode != object.Dir) {
			return
		}
		c := &comparison{repo: r, ctx: ctx, yield: yield}
		if err == nil {
			err = c.trees(dir, object.EmptyTree, e.ID)
		}
		if err != nil && !c.stopped {
			yield(treeChange{}, err)
		}
	}
}
