package repair

import (
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// withoutLost removes the lost paths from a checkpoint and records them as present and not
// captured.
func (m *mender) withoutLost(id object.ID, c *object.CommitData, loss *treeLoss) (why string, err error) {
	meta, err := state.DecodeMetadata(c.Header(state.MetadataHeader))
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
	if m.dry() {
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
		if c.Extra[i].Key == state.MetadataHeader {
			c.Extra[i].Value = text
		}
	}
	return "", nil
}

// state returns a tree without its lost paths.
func (m *mender) state(tree object.ID, loss *treeLoss) (*state.MendedState, error) {
	if s := m.states[tree]; s != nil {
		return s, nil
	}
	s := &state.MendedState{ID: tree, Gone: loss.paths}
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

// emptied returns the directories without a captured path.
func (m *mender) emptied(tree object.ID, paths []string) map[string]bool {
	lost := make(map[string]bool, len(paths))
	for _, path := range paths {
		lost[path] = true
	}
	empty := make(map[string]bool)
	var holds func(id object.ID, dir string) bool
	holds = func(id object.ID, dir string) bool {
		entries, _ := m.repo.ReadTree(id) // the walk has read it before
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
