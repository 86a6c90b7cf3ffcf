package operation

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// dropImpossible drops wanted ends that something in the way prevents, and the other halves
// of renames, until nothing more is to be dropped.
func (b *stepsBack) dropImpossible(ctx context.Context) error {
	for {
		n := len(b.want)
		for path, w := range b.want {
			inTheWay, err := b.inTheWay(ctx, path, w)
			if err != nil {
				return err
			}
			if inTheWay != "" {
				b.giveUp(path, plan.ReasonInTheWayOf+inTheWay)
			}
		}
		b.withdrawHalfRenames()
		if len(b.want) == n {
			return nil
		}
	}
}

func (b *stepsBack) giveUp(path, reason string) {
	delete(b.want, path)
	b.conflicts = append(b.conflicts, state.PathReason{Path: state.Path(path), Reason: reason})
}

// inTheWay returns a path that stays and prevents the wanted end of another path.
func (b *stepsBack) inTheWay(ctx context.Context, path string, w history.PathEnd) (string, error) {
	if w.Entry == nil {
		return "", nil
	}
	if above, err := b.fileAbove(path); above != "" || err != nil {
		return above, err
	}
	if later, err := b.laterDir(path); later != "" || err != nil {
		return later, err
	}
	e, err := b.store.EntryOrNil(b.start.Tree, path)
	if err != nil || e == nil || e.Mode != object.Dir {
		return "", err
	}
	for c, err := range b.store.WalkTree(ctx, b.start.Tree, state.NewPathScope([]string{path})) {
		if err != nil {
			return "", err
		}
		if end, planned := b.want[c.Path]; !planned || end.Entry != nil {
			return c.Path, nil
		}
	}
	return "", nil
}

// laterDir returns a directory without captured files that was made at or below a path after the steps.
// With Overwrite it gives way.
func (b *stepsBack) laterDir(path string) (string, error) {
	newest := b.ways[path][0]
	if newest.policy == plan.Overwrite {
		return "", nil
	}
	after := newest.after
	for _, dir := range dirsInPlaceOf(b.start.Meta, path) {
		if was, err := b.dirAt(after, dir); err != nil || !was.There {
			return dir, err
		}
	}
	return "", nil
}

// fileAbove finds a file or symlink that stays, or comes back, where a path needs a
// directory.
func (b *stepsBack) fileAbove(path string) (string, error) {
	for dir, _ := index.Split(path); dir != ""; dir, _ = index.Split(dir) {
		if end, planned := b.want[dir]; planned {
			if end.Entry != nil {
				return dir, nil
			}
			continue
		}
		if at, err := b.store.EndOf(b.start, dir); err != nil || at.Entry != nil {
			return dir, err
		}
	}
	return "", nil
}

// withdrawHalfRenames drops the other half of a rename if one half stays.
func (b *stepsBack) withdrawHalfRenames() {
	var stays []string
	for _, list := range [][]state.PathReason{b.kept, b.conflicts} {
		for _, s := range list {
			stays = append(stays, string(s.Path))
		}
	}
	wanted := func(path string) bool {
		_, ok := b.want[path]
		return ok
	}
	for _, half := range plan.OtherHalves(b.pairs, stays, wanted) {
		b.giveUp(string(half.Path), half.Reason)
	}
}

// state is the start without the steps. Its objects are in the batch.
func (b *stepsBack) state(ctx context.Context, batch *odb.Batch) (state.State, error) {
	for _, content := range b.merger.Merged {
		if _, err := batch.Add(object.Blob, content); err != nil {
			return state.State{}, err
		}
	}
	s, err := WithEnds(b.store, batch, b.start, b.want)
	if err != nil {
		return state.State{}, err
	}
	if err := b.setPermsOfReturningDirs(s); err != nil {
		return state.State{}, err
	}
	return s, b.directories(ctx, s)
}

// WithEnds returns a state with the ends of some paths replaced.
func WithEnds(store *history.Store, batch *odb.Batch, s state.State, ends map[string]history.PathEnd) (state.State, error) {
	if len(ends) == 0 {
		return state.State{Tree: s.Tree, Meta: s.Meta.WithoutSkipped(nil)}, nil
	}
	edits := make(map[string]*object.Entry, len(ends))
	there := make(map[string]bool)
	for path, end := range ends {
		if end.Entry != nil {
			edits[path], there[path] = end.Entry, true
		} else if !belowAny(path, ends) {
			edits[path] = nil
		}
	}
	meta := s.Meta.WithoutSkipped(there)
	above := state.DirsAbove(maps.Keys(there))
	replaced := func(dir state.Path) bool { return there[string(dir)] || belowAny(string(dir), ends) }
	meta.Empty = slices.DeleteFunc(slices.Clone(meta.Empty), func(dir state.Path) bool { return above[string(dir)] || replaced(dir) })
	meta.Bare = slices.DeleteFunc(meta.Bare, replaced)
	maps.DeleteFunc(meta.Perms, func(path string, _ state.Octal) bool { return belowAny(path, ends) })
	dirs := store.LookupDirs(s)
	for path, end := range ends {
		if _, has := meta.Perms[path]; has && end.Entry == nil {
			dir, err := dirs.At(path)
			if err != nil {
				return state.State{}, err
			}
			if dir.There {
				continue // the bits are those of a directory
			}
		}
		if end.Entry == nil || end.Entry.Mode == object.Symlink {
			delete(meta.Perms, path)
		} else {
			meta.SetPerm(path, end.Entry.Mode, end.Perm)
		}
	}
	tree, err := store.EditTree(batch, s.Tree, edits)
	return state.State{Tree: tree, Meta: meta}, err
}

// belowAny reports whether ends puts a file at one of the directories of the path.
func belowAny(path string, ends map[string]history.PathEnd) bool {
	for dir, _ := index.Split(path); dir != ""; dir, _ = index.Split(dir) {
		if ends[dir].Entry != nil {
			return true
		}
	}
	return false
}
