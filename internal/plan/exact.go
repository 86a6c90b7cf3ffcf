package plan

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// A plan lists exactly what the operation will do. An obstacle that planning can see is
// therefore a conflict of the plan.

// refuseUnsaveable blocks the uncaptured paths whose contents cannot be read.
func (p *planner) refuseUnsaveable() {
	p.Losses = slices.DeleteFunc(p.Losses, func(path string) bool {
		err := p.live.CanSave(path)
		if err != nil {
			p.block(path, "cannot be saved first: "+err.Error())
		}
		return err != nil
	})
}

// settle withdraws what cannot be done because something else stays, until nothing more has to stay: the
// other half of a rename stays where no file can take the place of a directory.
func (p *planner) settle(renames [][2]string) {
	for n := -1; n != len(p.Changes); {
		n = len(p.Changes)
		p.withdrawHalfRenames(renames)
		p.pairSpellings()
		p.dropNonEmptyDirs()
		p.dropNeedless()
	}
}

// noteUnmade notes a file that is not made because its change is dropped.
func (p *planner) noteUnmade(c apply.Change) {
	if c.Action == apply.Create {
		p.unmade[c.Path] = true
	}
}

// dropNeedless withdraws the removal of what was made since and stood in the way of a file that is not made now: in
// a directory at its path, or in the place of a directory above it.
func (p *planner) dropNeedless() {
	if p.way == nil || len(p.unmade) == 0 {
		return
	}
	stays, made, above := make(map[string]bool), p.made(), make(map[string]bool)
	for path := range p.unmade {
		addParents(above, path)
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c apply.Change) bool {
		inTheWay := p.belowUnmade(c.Path) || above[c.Path] && !made[c.Path]
		stays[c.Path] = inTheWay && c.Action.Removes() && p.madeSince(c.Path)
		return stays[c.Path]
	})
	p.Losses = slices.DeleteFunc(p.Losses, func(path string) bool { return stays[path] })
}

func (p *planner) belowUnmade(path string) bool {
	for at, _ := index.Split(path); at != ""; at, _ = index.Split(at) {
		if p.unmade[at] {
			return true
		}
	}
	return false
}

// madeSince reports whether the step that is taken back has neither made nor found a path.
func (p *planner) madeSince(path string) bool {
	base, err := p.store.EndOf(p.way.Base, path)
	return err == nil && base.Entry == nil && !p.baseHasDir(path) && !p.way.Made[path]
}

// dropNonEmptyDirs withdraws the removal of directories that will not be empty. A file that
// was to be made in place of such a directory is a conflict.
func (p *planner) dropNonEmptyDirs() {
	gone, made := make(map[string]bool), make(map[string]bool)
	var dirs []string
	for i := range p.Changes {
		switch c := &p.Changes[i]; {
		case c.Action == apply.Rmdir && c.As == "":
			dirs = append(dirs, c.Path)
		case c.Action.Removes():
			gone[c.Path] = true
		case c.Action == apply.Create:
			made[c.Path] = true
		}
	}
	slices.Sort(dirs)
	stay := make(map[string]bool)
	for _, dir := range slices.Backward(dirs) {
		holds := p.stillHolds(dir, gone)
		if gone[dir], stay[dir] = holds == "", holds != ""; stay[dir] && made[dir] {
			p.addConflict(dir, p.whatHolds(holds))
		}
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c apply.Change) bool {
		if !stay[c.Path] || c.Action != apply.Rmdir && c.Action != apply.Create {
			return false
		}
		p.noteUnmade(c)
		return true
	})
}

// whatHolds is the reason why a directory stays that still holds a path.
func (p *planner) whatHolds(path string) string {
	if p.isCaptured(path) {
		return ReasonInTheWayOf + path
	}
	return reasonInTheWay + path
}

// stillHolds returns a path in a directory that is not in gone, "" if there is none. If the
// directory cannot be listed, it returns "": the removal itself finds out.
func (p *planner) stillHolds(folder string, gone map[string]bool) string {
	names, err := p.live.Names(folder)
	if err != nil {
		return ""
	}
	for _, name := range names {
		if at := index.Join(folder, name); !gone[at] {
			return at
		}
	}
	return ""
}

// changedOnDisk reports whether the disk differs from Base at a path. With Overwrite, later
// changes do not count.
func (p *planner) changedOnDisk(path string) bool {
	if p.way == nil || p.way.Policy == Overwrite {
		return false
	}
	base, err := p.store.EndOf(p.way.Base, path)
	if err != nil {
		return true
	}
	ours, err := p.onDisk(path, nil)
	return err != nil || !ours.Same(base)
}

// isLaterDir reports whether a directory of the disk was made after Base.
func (p *planner) isLaterDir(path string) bool {
	return p.way != nil && p.way.Policy != Overwrite && !p.baseHasDir(path)
}

// changedDir reports whether a directory was made since, or got other bits.
func (p *planner) changedDir(path string, now uint16) bool {
	return p.isLaterDir(path) || p.way != nil && p.way.Policy != Overwrite && p.way.Base.Meta.PermOf(path, object.Dir) != now
}

// baseHasDir reports whether Base has a directory at the path.
func (p *planner) baseHasDir(path string) bool {
	if p.baseDirs == nil {
		p.baseDirs = make(map[string]bool)
		for _, list := range [][]state.Path{p.way.Base.Meta.Empty, p.way.Base.Meta.Bare} {
			for _, dir := range list {
				for at := string(dir); at != "" && !p.baseDirs[at]; at, _ = index.Split(at) {
					p.baseDirs[at] = true
				}
			}
		}
	}
	if p.baseDirs[path] {
		return true
	}
	e, err := p.store.EntryOrNil(p.way.Base.Tree, path)
	return err == nil && e != nil && e.Mode == object.Dir
}

// replacedDirs lists directories with reverted bits in whose place something else stands.
func (p *planner) replacedDirs() error {
	if p.way == nil {
		return nil
	}
	dirs, err := p.store.ChmoddedDirs(p.target, p.way.Base)
	if err != nil {
		return err
	}
	listed := make(map[string]bool)
	for _, s := range slices.Concat(p.Kept, p.Conflicts) {
		listed[string(s.Path)] = true
	}
	for _, folder := range dirs {
		if !p.scope.Covers(folder) || p.captured.Index.Dirs[folder] != nil || listed[folder] || p.cleared[folder] {
			continue
		}
		found, err := p.live.Find(folder)
		if err == nil && found != nil && found.Path == folder && found.Mode != object.Dir {
			p.leaveToLater(folder, ReasonChangedSince)
		}
	}
	return nil
}
