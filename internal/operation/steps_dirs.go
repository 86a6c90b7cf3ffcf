package operation

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// setPermsOfReturningDirs restores the permission bits of directories that come back with
// their files.
func (b *stepsBack) setPermsOfReturningDirs(s state.State) error {
	done := make(map[string]bool)
	for path, w := range b.want {
		if w.Entry == nil {
			continue
		}
		for dir, _ := index.Split(path); dir != "" && !done[dir]; dir, _ = index.Split(dir) {
			done[dir] = true
			now, err := b.dirAt(b.start, dir)
			if err != nil {
				return err
			}
			if !now.There {
				s.Meta.SetPerm(dir, object.Dir, b.origin[path].Meta.PermOf(dir, object.Dir))
			}
		}
	}
	return nil
}

// directories updates the metadata of a state for directories that the steps made, removed,
// emptied or chmodded, unless they were changed since.
func (b *stepsBack) directories(ctx context.Context, s state.State) error {
	var empty, bare []state.Path
	settled := make(map[state.Path]bool)
	held := b.dirsWithFiles()
	for _, dir := range slices.Sorted(maps.Keys(b.dirs)) {
		if !b.dirs[dir].listed {
			continue // listEmptied has those
		}
		before, known, err := b.setDirPerm(s, dir)
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		settled[state.Path(dir)] = true
		if !before.There {
			continue
		}
		above, err := b.fileAbove(dir + "/")
		if err != nil {
			return err
		}
		if above != "" {
			b.conflicts = append(b.conflicts, state.PathReason{Path: state.Path(dir), Reason: plan.ReasonInTheWayOf + above})
			continue
		}
		keeps, err := b.wantsFiles(ctx, dir, held)
		switch {
		case err != nil:
			return err
		case keeps: // the files keep it alive
		case before.Bare:
			bare = append(bare, state.Path(dir))
		default:
			empty = append(empty, state.Path(dir))
		}
	}
	s.Meta.Empty, s.Meta.Bare = replaceListed(s.Meta.Empty, settled, empty), replaceListed(s.Meta.Bare, settled, bare)
	replaced := state.DirsAbove(inEach(slices.Concat(empty, bare)))
	s.Meta.Skipped = slices.DeleteFunc(s.Meta.Skipped, func(s state.Skipped) bool { return replaced[string(s.Path)] && state.IsOfFile(s) })
	return b.listEmptied(ctx, s, settled, held)
}

// inEach has a path in each of some directories.
func inEach(dirs []state.Path) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, dir := range dirs {
			if !yield(string(dir) + "/") {
				return
			}
		}
	}
}

// listEmptied adds directories to the empty ones that lose their last file and that existed
// before the steps.
func (b *stepsBack) listEmptied(ctx context.Context, s state.State, settled map[state.Path]bool, held map[string]bool) error {
	done := state.DirsAbove(inEach(slices.Concat(s.Meta.Empty, s.Meta.Bare)))
	for _, path := range slices.Sorted(maps.Keys(b.want)) {
		if b.want[path].Entry != nil {
			continue
		}
		for dir, _ := index.Split(path); dir != "" && !done[dir]; dir, _ = index.Split(dir) {
			done[dir] = true
			if settled[state.Path(dir)] {
				continue
			}
			stays, empty, err := b.isEmptied(ctx, dir, b.origin[path], held)
			if err != nil {
				return err
			}
			if empty {
				s.Meta.Empty = append(s.Meta.Empty, state.Path(dir))
			}
			if stays {
				break
			}
		}
	}
	return nil
}

// isEmptied reports whether a directory of the start stays, and whether nothing is left
// in it then. One that may have been there before without being captured stays, too.
func (b *stepsBack) isEmptied(ctx context.Context, dir string, before state.State, held map[string]bool) (stays, empty bool, err error) {
	if keeps, err := b.wantsFiles(ctx, dir, held); err != nil || keeps {
		return keeps, false, err
	}
	now, err := b.dirAt(b.start, dir)
	if err != nil || !now.There {
		return false, false, err
	}
	if ends, ok := b.dirs[dir]; ok {
		before = ends.from // an older step may have made it
	}
	was, err := b.dirAt(before, dir)
	stays = err == nil && (was.There || b.keepIfMayHaveExisted(dir, true, before))
	return stays, stays, err
}

// setDirPerm restores the permission bits of a directory. known is false for a directory that
// was made or removed since the steps, or that may have existed before them uncaptured.
func (b *stepsBack) setDirPerm(s state.State, dir string) (before history.DirEnd, known bool, err error) {
	ends := b.dirs[dir]
	var at [3]history.DirEnd
	for i, end := range []state.State{ends.from, ends.to, b.start} {
		if at[i], err = b.dirAt(end, dir); err != nil {
			return history.DirEnd{}, false, err
		}
	}
	before, after, now := at[0], at[1], at[2]
	switch {
	case now.There != after.There:
		return before, false, nil
	case !before.There && now.There && b.keepIfMayHaveExisted(dir, true, ends.from):
		return before, false, nil
	case !before.There:
		if b.want[dir].Entry == nil { // else the bits are those of the file that comes back there
			delete(s.Meta.Perms, dir)
		}
	case !now.There || now.Perm == after.Perm:
		s.Meta.SetPerm(dir, object.Dir, before.Perm)
	}
	return before, true, nil
}

// replaceListed is a list without some paths, and with more.
func replaceListed(list []state.Path, without map[state.Path]bool, more []state.Path) []state.Path {
	return append(slices.DeleteFunc(slices.Clone(list), func(p state.Path) bool { return without[p] }), more...)
}

// dirsWithFiles has the directories in which the steps leave a wanted file.
func (b *stepsBack) dirsWithFiles() map[string]bool {
	return state.DirsAbove(func(yield func(string) bool) {
		for path, w := range b.want {
			if w.Entry != nil && !yield(path) {
				return
			}
		}
	})
}

// wantsFiles reports whether the wanted state has a file below a directory. Its tree
// cannot be asked: it lies in a batch that is still to be written.
func (b *stepsBack) wantsFiles(ctx context.Context, dir string, held map[string]bool) (bool, error) {
	if belowAny(dir+"/", b.want) {
		return false, nil
	}
	if held[dir] {
		return true, nil
	}
	for c, err := range b.store.WalkTree(ctx, b.start.Tree, state.NewPathScope([]string{dir})) {
		if err != nil {
			return false, err
		}
		if _, goes := b.want[c.Path]; !goes && c.Path != dir {
			return true, nil
		}
	}
	return false, nil
}

// dirAt looks a directory up in a state.
func (b *stepsBack) dirAt(s state.State, path string) (history.DirEnd, error) {
	l := b.lookups[s.Meta]
	if l == nil {
		l = b.store.LookupDirs(s)
		b.lookups[s.Meta] = l
	}
	return l.At(path)
}

// collectDirs notes the directories that a step changed.
func (b *stepsBack) collectDirs(from, to state.State, owners *plan.Attribution) error {
	dirs, err := b.store.ChangedDirs(from, to)
	if err != nil {
		return err
	}
	for dir := range dirs {
		if owners.Stays(dir) != "" {
			continue
		}
		if err := b.noteDir(dir, dirEnds{from, to, true}); err != nil {
			return err
		}
	}
	return nil
}

// collectDirsOfFiles notes the directories that a step made with the first file in them, or removed
// with the last one.
func (b *stepsBack) collectDirsOfFiles(own []history.Change, from, to state.State, owners *plan.Attribution) error {
	seen := make(map[string]bool)
	for i := range own {
		for dir, _ := index.Split(own[i].Path); dir != "" && !seen[dir]; dir, _ = index.Split(dir) {
			seen[dir] = true
			before, err := b.dirAt(from, dir)
			if err != nil {
				return err
			}
			after, err := b.dirAt(to, dir)
			if err != nil {
				return err
			}
			if before.There == after.There {
				break
			}
			if owners.Stays(dir) != "" {
				continue
			}
			if err := b.noteDir(dir, dirEnds{from, to, false}); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteDir adds what a step did to a directory. The steps come newest first. A directory that went and came
// again with other permission bits is listed.
func (b *stepsBack) noteDir(dir string, ends dirEnds) error {
	later, ok := b.dirs[dir]
	if ok {
		ends.to, ends.listed = later.to, ends.listed || later.listed
	}
	if ok && !ends.listed {
		before, err := b.dirAt(ends.from, dir)
		if err != nil {
			return err
		}
		after, err := b.dirAt(ends.to, dir)
		if err != nil {
			return err
		}
		ends.listed = before.There && after.There && before.Perm != after.Perm
	}
	b.dirs[dir] = ends
	return nil
}

// dirEnds are the states before the oldest step that changed a directory, and after
// the newest. listed is false if the directory only came and went with the files in it.
type dirEnds struct {
	from, to state.State
	listed   bool
}
