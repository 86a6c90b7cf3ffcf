package history

import (
	"bytes"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// changesText reports whether a file contains the text more or less often than before. The contents
// of a file that only moved stay the same: its deletion and its addition take each other out.
func (l *pathLog) changesText(before, after object.ID) (bool, error) {
	moved := make(map[object.ID]int)
	for c, err := range l.repo.CompareTrees(l.ctx, before, after, l.scope) {
		if err != nil {
			return false, err
		}
		switch {
		case c.Old == nil:
			moved[c.New.ID]++
		case c.New == nil:
			moved[c.Old.ID]--
		default:
			was, err := l.count(c.Old)
			if err != nil {
				return false, err
			}
			is, err := l.count(c.New)
			if was != is || err != nil {
				return err == nil, err
			}
		}
	}
	for id, n := range moved {
		if n == 0 {
			continue
		}
		if times, err := l.count(&object.Entry{Mode: object.Regular, ID: id}); times > 0 || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// count returns how often a blob contains the text. A blob that is too large for a diff counts as
// one without it.
func (l *pathLog) count(e *object.Entry) (int, error) {
	if n, ok := l.counts[e.ID]; ok {
		return n, nil
	}
	size, err := l.repo.BlobSize(e)
	if err != nil {
		return 0, err
	}
	var content []byte
	if size <= DefaultMaxDiffSize {
		if content, err = l.repo.Blob(e); err != nil {
			return 0, err
		}
	}
	n := bytes.Count(content, []byte(l.opt.Text))
	l.counts[e.ID] = n
	return n, nil
}

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
