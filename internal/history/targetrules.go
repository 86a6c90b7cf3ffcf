package history

import (
	"errors"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// TreeRules tells whether a state may have ignored a path, by the .gitignore files of its tree and
// the rules in its metadata. Directories are read on demand.
type TreeRules struct {
	repo    *Store
	tree    object.ID
	later   state.State // a later state that may show traces of rules, for a state without a rule record
	prefix  string
	fold    bool
	texts   map[string]state.RuleLines // by directory: texts of .gitignore files that the tree does not hold
	unknown map[string]bool            // directories with unknown rules
	bare    map[string]bool            // directories with nothing captured; nil for a state with a rule record
	traces  map[string]bool            // directories where the later state has rules that no tree holds
	dirs    map[string]dirRules
}

type dirRules struct {
	chain   *ignore.Chain
	ignored bool // the directory itself or one above it is ignored
	unknown bool // a rule file that applies in the directory is unknown
}

// TreeRules returns the rules of a state. later is a state after it.
func (r *Store) TreeRules(s, later state.State) *TreeRules {
	ig := &s.Meta.Ignore
	t := &TreeRules{
		repo: r, tree: s.Tree, later: later, prefix: string(ig.Prefix), fold: ig.FoldCase,
		texts: make(map[string]state.RuleLines), unknown: make(map[string]bool), dirs: make(map[string]dirRules),
	}
	t.addRecord(s.Meta)
	t.dirs[""] = t.enter(dirRules{chain: ig.Chain(), unknown: ig.Unknown}, "")
	return t
}

// addRecord reads the rule record, or the traces that replace it in a state without one.
func (t *TreeRules) addRecord(m *state.Metadata) {
	if m.Rules != nil {
		m.Rules.Each(func(dir string, text state.RuleLines) { t.texts[dir] = text })
		for _, dir := range m.Rules.Unknown {
			t.unknown[string(dir)] = true
		}
	} else {
		t.bare, t.traces = make(map[string]bool), make(map[string]bool)
		for _, dir := range m.Bare {
			t.bare[string(dir)] = true
		}
		if t.later.Meta != nil {
			for dir := range t.later.Meta.Rules.Dirs {
				t.traces[dir] = true
			}
		}
	}
	for _, s := range m.Skipped {
		dir, name := index.Split(string(s.Path))
		if _, known := t.texts[dir]; name == index.IgnoreFile && !known && !hasNoRules(s.Reason) {
			t.unknown[dir] = true
		}
	}
}

// hasNoRules reports whether git reads no rules from a .gitignore, given the reason why it is
// skipped.
func hasNoRules(reason string) bool {
	return reason == index.Special.String() || reason == index.Sparse.String()
}

// MayHaveIgnored returns ignored if the state ignored the path, unknown if it may have, and "" if
// it certainly did not.
func (t *TreeRules) MayHaveIgnored(path string, dir bool, ignored, unknown string) string {
	parent, _ := index.Split(path)
	switch d := t.dir(parent); {
	case d.ignored || d.chain.Ignored(t.prefix+path, dir):
		return ignored
	case d.unknown:
		return unknown
	}
	return ""
}

func (t *TreeRules) dir(path string) dirRules {
	if d, ok := t.dirs[path]; ok {
		return d
	}
	parent, _ := index.Split(path)
	d := t.dir(parent)
	d.ignored = d.ignored || d.chain.Ignored(t.prefix+path, true)
	if !d.ignored {
		d = t.enter(d, path)
	}
	t.dirs[path] = d
	return d
}

// enter adds the .gitignore of a directory to the rules above it.
func (t *TreeRules) enter(d dirRules, dir string) dirRules {
	text, known := t.rulesIn(d.chain, dir)
	if !known {
		d.unknown = true
	}
	at := t.prefix + dir
	if dir == "" && at != "" {
		at = at[:len(at)-1]
	}
	d.chain = d.chain.Enter(at, ignore.Parse(text, t.fold))
	return d
}

// rulesIn returns the text of a directory's .gitignore. A text that cannot be read is not known.
// The tree's file goes before the recorded text, because an edited state may have a file there.
func (t *TreeRules) rulesIn(above *ignore.Chain, dir string) (text []byte, known bool) {
	if t.unknown[dir] {
		return nil, false
	}
	path := index.Join(dir, index.IgnoreFile)
	e, err := t.repo.EntryOrNil(t.tree, path)
	switch {
	case err != nil:
		return nil, false
	case e != nil && e.Mode.IsFile():
		text, err = t.repo.Blob(e)
		return text, err == nil
	case e != nil:
		return nil, true // a link or a directory, from which git takes no rules
	}
	if text, ok := t.texts[dir]; ok {
		return []byte(text), true
	}
	return nil, t.bare == nil || !t.mayLack(above, dir, path)
}

// mayLack reports whether a state without a rule record may have had a .gitignore in dir that its
// tree does not hold. There is no proof, but there are traces: the file would have been ignored,
// nothing in the directory was captured, or a later state has such a file.
func (t *TreeRules) mayLack(above *ignore.Chain, dir, path string) bool {
	if t.bare[dir] || t.traces[dir] || above.Ignored(t.prefix+path, false) {
		return true
	}
	if t.later.Meta == nil {
		return false
	}
	e, err := t.repo.EntryOrNil(t.later.Tree, path)
	return err != nil || e != nil && e.Mode.IsFile()
}

// EntryOrNil is TreeEntry for a path that may be absent: it returns nil then.
func (r *Store) EntryOrNil(tree object.ID, path string) (*object.Entry, error) {
	e, err := r.TreeEntry(tree, path)
	if errors.Is(err, state.ErrNotFound) && !errors.Is(err, state.ErrCorrupt) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &e, nil
}
