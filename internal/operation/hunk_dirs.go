package operation

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// A file may stand in the place of a directory. When the file goes as a hunk, the directories without
// captured files that were there come back with it, because they have no hunks of their own. A
// directory with captured files comes back with the hunks of these.

// dirsInPlaceOf lists the directories without captured files that a state has at and below a path.
func dirsInPlaceOf(m *state.Metadata, path string) (dirs []string) {
	in := state.NewPathScope([]string{path})
	for _, list := range [][]state.Path{m.Empty, m.Bare} {
		for _, dir := range list {
			if in.Covers(string(dir)) {
				dirs = append(dirs, string(dir))
			}
		}
	}
	return dirs
}

// addDirsInPlace adds the directories that stood where a file goes, and returns them.
func (b *stepsBack) addDirsInPlace(ctx context.Context, s state.State) (added []string, err error) {
	held := b.dirsWithFiles()
	for _, path := range slices.Sorted(maps.Keys(b.want)) {
		if b.want[path].Entry != nil {
			continue
		}
		for _, dir := range dirsInPlaceOf(b.origin[path].Meta, path) {
			keeps, err := b.wantsFiles(ctx, dir, held)
			if err != nil {
				return nil, err
			}
			if keeps {
				continue
			}
			if err := b.addDirInPlace(s, path, dir); err != nil {
				return nil, err
			}
			added = append(added, dir)
		}
	}
	return added, nil
}

// addDirInPlace adds one directory, with its bits and those of the directories from the path of the
// file on that lead to it.
func (b *stepsBack) addDirInPlace(s state.State, path, dir string) error {
	before := b.origin[path]
	was, err := b.dirAt(before, dir)
	if err != nil {
		return err
	}
	if was.Bare {
		s.Meta.Bare = append(s.Meta.Bare, state.Path(dir))
	} else {
		s.Meta.Empty = append(s.Meta.Empty, state.Path(dir))
	}
	for at := dir; len(at) >= len(path); at, _ = index.Split(at) {
		s.Meta.SetPerm(at, object.Dir, before.Meta.PermOf(at, object.Dir))
	}
	return nil
}
