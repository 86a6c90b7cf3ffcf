package cairn

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// reasonLost is why a path of a checkpoint is not captured: its contents are lost.
const reasonLost = "lost"

// MendedState is a state without the paths that are lost.
type MendedState struct {
	ID      object.ID
	Gone    []string
	Emptied []string // directories that the tree does not hold any more
}

// withoutLost takes the lost paths out of a checkpoint, which notes them as present and not
// captured.
func (m *mender) withoutLost(id object.ID, c *object.CommitData, loss *treeLoss) (why string, err error) {
	meta, err := DecodeMetadata(c.Header(MetadataHeader))
	if err != nil {
		return "a part of its state is lost, and its metadata cannot be read", nil
	}
	for _, path := range loss.paths {
		p := m.paths[path]
		if p == nil {
			p = &pathLoss{}
			m.paths[path] = p
		}
		p.ids = append(p.ids, id)
	}
	if m.dry {
		return "", nil
	}
	s, err := m.state(c.Tree, loss)
	if err != nil {
		return "", err
	}
	meta.Lose(s)
	text, err := meta.Encode()
	if err != nil {
		return "", err
	}
	c.Tree = s.ID
	for i := range c.Extra {
		if c.Extra[i].Key == MetadataHeader {
			c.Extra[i].Value = text
		}
	}
	return "", nil
}

// state returns a tree without what it lacks.
func (m *mender) state(tree object.ID, loss *treeLoss) (*MendedState, error) {
	if s := m.states[tree]; s != nil {
		return s, nil
	}
	s := &MendedState{ID: tree, Gone: loss.paths}
	edits := make(map[string]*object.Entry, len(loss.paths))
	for _, path := range loss.paths {
		edits[path] = nil
	}
	var err error
	if s.ID, err = m.repo.EditTree(m.batch, tree, edits); err != nil {
		return nil, err
	}
	s.Emptied = slices.Sorted(maps.Keys(m.emptied(tree, loss.paths)))
	m.states[tree] = s
	return s, nil
}

// emptied are the directories in which nothing is left that is captured.
func (m *mender) emptied(tree object.ID, paths []string) map[string]bool {
	lost := make(map[string]bool, len(paths))
	for _, path := range paths {
		lost[path] = true
	}
	empty := make(map[string]bool)
	var holds func(id object.ID, dir string) bool
	holds = func(id object.ID, dir string) bool {
		entries, _ := m.repo.ReadTree(id) // which has been read before
		any := false
		for i := range entries {
			path := index.Join(dir, entries[i].Name)
			switch {
			case lost[path]:
			case entries[i].Mode == object.Dir && m.below[entries[i].ID] != nil && len(m.below[entries[i].ID].paths) > 0:
				any = holds(entries[i].ID, path) || any
			default:
				any = true
			}
		}
		if !any && dir != "" {
			empty[dir] = true
		}
		return any
	}
	holds(tree, "")
	return empty
}

// Lose notes paths as present and not captured.
func (m *Metadata) Lose(s *MendedState) {
	scope := NewPathScope(s.Gone)
	below := func(path PathText) bool { return scope.Covers(string(path)) }
	m.Skipped = slices.DeleteFunc(m.Skipped, func(s Skipped) bool { return scope.Covers(s.Path) })
	for _, path := range s.Gone {
		m.Skipped = append(m.Skipped, Skipped{Path: path, Reason: reasonLost})
		if dir, name := index.Split(path); name == index.IgnoreFile && m.Rules != nil {
			m.Rules.Unknown = append(m.Rules.Unknown, PathText(dir))
		}
	}
	slices.SortFunc(m.Skipped, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	m.Empty, m.Bare = slices.DeleteFunc(m.Empty, below), slices.DeleteFunc(m.Bare, below)
	for _, dir := range s.Emptied {
		if !slices.Contains(m.Bare, PathText(dir)) {
			m.Bare = append(m.Bare, PathText(dir))
		}
	}
	maps.DeleteFunc(m.Perms, func(path string, _ Octal) bool { return scope.Covers(path) })
	if m.Rules != nil {
		slices.Sort(m.Rules.Unknown)
		m.Rules.Unknown = slices.Compact(m.Rules.Unknown)
	}
}
