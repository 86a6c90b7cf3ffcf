package cairn

import (
	"errors"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// treeRules answers whether a state ignored a path: by the .gitignore files of its
// tree and by the rules recorded with it. Directories are read when they are asked
// about.
type treeRules struct {
	repo   *Repo
	tree   object.ID
	prefix string
	fold   bool
	dirs   map[string]dirRules
}

type dirRules struct {
	chain   *ignore.Chain
	ignored bool // the directory itself, or one above it
}

func (r *Repo) treeRules(s state) *treeRules {
	ig := &s.meta.Ignore
	t := &treeRules{repo: r, tree: s.tree, prefix: string(ig.Prefix), fold: ig.FoldCase, dirs: make(map[string]dirRules)}
	t.dirs[""] = dirRules{chain: t.enter(ig.chain(), "")}
	return t
}

// ignores reports whether the state ignored the path.
func (t *treeRules) ignores(path string, dir bool) bool {
	parent, _ := index.Split(path)
	d := t.dir(parent)
	return d.ignored || d.chain.Ignored(t.prefix+path, dir)
}

func (t *treeRules) dir(path string) dirRules {
	if d, ok := t.dirs[path]; ok {
		return d
	}
	parent, _ := index.Split(path)
	above := t.dir(parent)
	d := dirRules{chain: above.chain, ignored: above.ignored || above.chain.Ignored(t.prefix+path, true)}
	if !d.ignored {
		d.chain = t.enter(d.chain, path)
	}
	t.dirs[path] = d
	return d
}

// enter adds the .gitignore that the tree has in a directory. One that cannot be
// read has no rules; the object's damage shows wherever it is needed.
func (t *treeRules) enter(chain *ignore.Chain, dir string) *ignore.Chain {
	e, err := t.repo.treeEntry(t.tree, index.Join(dir, ".gitignore"))
	if err != nil || !e.Mode.IsFile() {
		return chain
	}
	text, err := t.repo.blob(&e)
	if err != nil {
		return chain
	}
	at := t.prefix + dir
	if dir == "" && at != "" {
		at = at[:len(at)-1]
	}
	return chain.Enter(at, ignore.Parse(text, t.fold))
}

// entryOrNil is treeEntry for a path that may be absent.
func (r *Repo) entryOrNil(tree object.ID, path string) (*object.Entry, error) {
	e, err := r.treeEntry(tree, path)
	if errors.Is(err, ErrNotFound) && !errors.Is(err, ErrCorrupt) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &e, nil
}
