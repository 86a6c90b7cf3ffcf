package merge

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/diff"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// sides are the three states of a merge, and the paths that the directory of theirs could not be made with.
type sides struct {
	base, theirs, ours state.State
	lacks              []state.Path
}

// incoming describes what a merge brings in: the changes from base to theirs within the scope, or
// the chosen hunks of these, with the renames of both sides followed. lister is the command that lists the names of
// hunks.
func (m *Merger) incoming(
	ctx context.Context, batch *odb.Batch, lister string, s sides, scope *state.PathScope, hunks []string,
) (*operation.Incoming, error) {
	list, err := m.changes(ctx, s.base, s.theirs, s.lacks)
	if err != nil {
		return nil, err
	}
	list = within(list, scope)
	if len(hunks) > 0 {
		if list, s.theirs, err = m.onlyHunks(ctx, lister, hunks, s.base, list); err != nil {
			return nil, err
		}
		scope, s.lacks = state.NewPathScope(nil), nil
	}
	f := &follower{
		Merger: m, ctx: ctx, batch: batch, sides: s, merger: plan.NewTextMerger(m.Store),
		atBase: make(map[string]history.PathEnd), atTheirs: make(map[string]history.PathEnd),
	}
	err = f.follow(list)
	if err == nil {
		err = f.addLacking()
	}
	if err != nil {
		return nil, err
	}
	in := &operation.Incoming{Within: scope, Pairs: f.pairs, Mixed: f.mixed, Conflicts: f.conflicts, Reword: reword}
	if scope != nil {
		in.Within = state.NewPathScope(scope.Paths).WithAlone(append(f.moved, pathsOf(list)...))
	}
	if in.Base, err = operation.WithEnds(m.Store, batch, s.base, f.atBase); err != nil {
		return nil, err
	}
	in.Theirs, err = operation.WithEnds(m.Store, batch, s.theirs, f.atTheirs)
	return in, err
}

// onlyHunks narrows changes down to hunks, and adds the state that they make of base to the store, where
// it is read from then on.
func (m *Merger) onlyHunks(
	ctx context.Context, lister string, hunks []string, base state.State, list []diff.FileChange,
) ([]diff.FileChange, state.State, error) {
	batch := m.NewBatch(capture.ForCapture)
	defer batch.Discard()
	list, err := m.OnlyHunks(ctx, batch, hunks, lister, list)
	if err != nil {
		return nil, base, err
	}
	theirs, err := operation.WithEnds(m.Store, batch, base, endsOf(list))
	if err != nil {
		return nil, base, err
	}
	return list, theirs, state.AsNoSpace(batch.Commit())
}

// changes lists what changed between two states, renames as one change. As in git's merges, an
// empty file is never renamed. A path among lacks was not deleted.
func (m *Merger) changes(ctx context.Context, from, to state.State, lacks []state.Path) ([]diff.FileChange, error) {
	all, err := m.Store.Changes(ctx, from, to, nil)
	if err != nil {
		return nil, err
	}
	all = notLacking(all, lacks)
	var pairable []history.Change
	var list []diff.FileChange
	empty := object.Sum(object.Blob, nil).String()
	for i := range all {
		c := &all[i]
		if c.Status == history.Modified || c.OldID == empty || c.NewID == empty {
			list = append(list, diff.FileChange{Change: *c})
		} else {
			pairable = append(pairable, *c)
		}
	}
	paired, err := m.Differ.Renames(ctx, pairable)
	return append(list, paired...), err
}

// within leaves out the changes that a scope covers at neither end.
func within(list []diff.FileChange, scope *state.PathScope) (in []diff.FileChange) {
	for i := range list {
		if c := &list[i]; scope.Covers(c.Path) || c.From != "" && scope.Covers(c.From) {
			in = append(in, *c)
		}
	}
	return in
}

// pathsOf lists the paths of changes, both of a rename.
func pathsOf(list []diff.FileChange) (paths []string) {
	for i := range list {
		paths = append(paths, list[i].Path)
		if list[i].From != "" {
			paths = append(paths, list[i].From)
		}
	}
	return paths
}

// endsOf returns what stands after changes at their paths.
func endsOf(list []diff.FileChange) map[string]history.PathEnd {
	ends := make(map[string]history.PathEnd, len(list))
	for i := range list {
		c := &list[i]
		if c.From != "" {
			ends[c.From] = history.PathEnd{}
		}
	}
	for i := range list {
		ends[list[i].Path] = newEnd(&list[i])
	}
	return ends
}

func newEnd(c *diff.FileChange) history.PathEnd {
	return history.PathEnd{Entry: history.NewEntry(&c.Change), Perm: c.NewPerm}
}

func oldEnd(c *diff.FileChange) history.PathEnd {
	return history.PathEnd{Entry: history.OldEntry(&c.Change), Perm: c.OldPerm}
}
