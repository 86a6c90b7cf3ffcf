package history

import (
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// changesBits reports whether the paths differ in what no tree holds: permission bits, and whether a directory without
// files is there. Neighbours mostly have metadata of equal texts, and only others are decoded. Those of a later release
// tell nothing, and so no change.
func (l *pathLog) changesBits(before, after *Checkpoint) (bool, error) {
	if before != nil && sameMetadata(before, after) {
		return false, nil
	}
	is, err := knownMetadata(after)
	if is == nil {
		return false, err
	}
	was := &state.Metadata{}
	if before != nil {
		if was, err = knownMetadata(before); was == nil {
			return false, err
		}
	}
	if changed := l.changesListed(was, is); changed || before == nil {
		return changed, nil
	}
	return l.changesPerm(state.State{Tree: before.tree, Meta: was}, state.State{Tree: after.tree, Meta: is})
}

// changesListed reports whether one of the paths is a directory without files on one side only.
func (l *pathLog) changesListed(was, is *state.Metadata) (changed bool) {
	for _, f := range l.finders {
		before, after := was.Lists(f.path()), is.Lists(f.path())
		changed = changed || before != after
		l.found = l.found || before || after
	}
	return changed
}

// changesPerm reports whether permission bits of the paths, or of what lies below them, differ.
func (l *pathLog) changesPerm(a, b state.State) (bool, error) {
	if a.Meta.Perm == b.Meta.Perm && !l.coversOne(maps.Keys(state.DifferingPerms(a.Meta, b.Meta))) {
		return false, nil
	}
	files, err := l.repo.PermChanges(l.ctx, a, b, l.scope)
	if err != nil || len(files) > 0 {
		return err == nil, err
	}
	dirs, err := l.repo.ChmoddedDirs(a, b)
	return l.coversOne(slices.Values(dirs)), err
}

func (l *pathLog) coversOne(paths iter.Seq[string]) bool {
	for path := range paths {
		if l.scope.Covers(path) {
			return true
		}
	}
	return false
}

// sameMetadata reports whether the metadata of two checkpoints are the same text.
func sameMetadata(a, b *Checkpoint) bool {
	return a.commit.Header(state.MetadataHeader) == b.commit.Header(state.MetadataHeader)
}

// knownMetadata returns the metadata of a checkpoint, nil for one that a later release has made.
func knownMetadata(c *Checkpoint) (*state.Metadata, error) {
	m, err := MetadataOf(c)
	if errors.Is(err, state.ErrLater) {
		return nil, nil
	}
	return m, err
}

// has reports whether a checkpoint has the path, as an entry of its tree or as a directory without files.
func (f *PathFinder) has(c *Checkpoint) (bool, error) {
	if e, err := f.In(c.tree); e.Mode != 0 || err != nil {
		return e.Mode != 0, err
	}
	m, err := knownMetadata(c)
	return m != nil && m.Lists(f.path()), err
}
