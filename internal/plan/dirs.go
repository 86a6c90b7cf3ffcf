package plan

import (
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// directories plans missing directories of the target, the removal of directories that it
// lacked, and permission bits.
func (p *planner) directories() error {
	p.dirs.list(p.target.Meta)
	needed, emptied := p.parents()
	for _, path := range slices.Backward(p.dirs.made) { // a directory needs those above it
		if p.captured.Index.Dirs[path] == nil && (p.scope.Covers(path) || needed[path]) && p.makeDir(path, needed[path]) {
			addParents(needed, path)
		}
	}
	if !p.keepNew {
		if err := p.removeSurplus(emptied); err != nil {
			return err
		}
	}
	p.dirPermissions()
	p.guardReadOnly()
	return p.replacedDirs()
}

// ownerWrites are the bits that allow the owner to change names in a directory.
const ownerWrites = 0o300

// guardReadOnly plans the present bits of read-only directories in which names change. The
// operation makes them writable for a while. After a crash only the plan knows their bits.
func (p *planner) guardReadOnly() {
	planned, parents := make(map[string]bool), make(map[string]bool)
	for i := range p.Changes {
		planned[p.Changes[i].Path] = true
		dir, _ := index.Split(p.Changes[i].Path)
		parents[dir] = true
	}
	for folder := range parents {
		rec := p.captured.Index.Lookup(folder)
		if rec == nil || rec.Mode() != object.Dir || rec.Perm()&ownerWrites == ownerWrites || planned[folder] {
			continue
		}
		p.Changes = append(p.Changes, apply.Change{
			Path: folder, Action: apply.Chmod, Mode: object.Dir, Perm: rec.Perm(),
			Was: &dir.State{Mode: object.Dir, Perm: rec.Perm()},
		})
	}
}

// IsGuard reports whether a change only protects a directory's bits.
func IsGuard(c *apply.Change) bool {
	return c.Action == apply.Chmod && c.Mode == object.Dir && c.Was != nil && c.Was.Perm == c.Perm
}

// parents returns the directories above planned files (needed) and above deleted files or
// files that the step added (emptied). Emptied directories are removed even if the scope
// names only their files.
func (p *planner) parents() (needed, emptied map[string]bool) {
	needed, emptied = make(map[string]bool), make(map[string]bool)
	for i := range p.Changes {
		set := needed
		if p.Changes[i].Action == apply.Delete {
			set = emptied
		}
		addParents(set, p.Changes[i].Path)
	}
	maps.Copy(emptied, p.aboveAdded())
	return needed, emptied
}

// aboveAdded returns the directories above the files that the step added.
func (p *planner) aboveAdded() map[string]bool {
	above := make(map[string]bool)
	for i := range p.step {
		if c := &p.step[i]; c.Status == history.Added && p.scope.Covers(c.Path) {
			addParents(above, c.Path)
		}
	}
	return above
}

func addParents(set map[string]bool, path string) {
	for dir, _ := index.Split(path); dir != "" && !set[dir]; dir, _ = index.Split(dir) {
		set[dir] = true
	}
}

// dirSet holds the directories of the target, and the directories that only the disk has.
// Equal subtrees are recorded by their top directory.
type dirSet struct {
	all  map[string]bool // the target's, without those below same
	same map[string]bool // equal on the disk, with all below
	made []string        // in all; in the end parents first
	gone []string        // the disk's that the target lacks
}

func newDirSet(equal bool) *dirSet {
	s := &dirSet{all: make(map[string]bool), same: make(map[string]bool)}
	s.same[""] = equal
	return s
}

// note records a directory of a differing tree. disk or target is nil if that side lacks it.
func (s *dirSet) note(path string, disk, target *object.Entry) {
	if target == nil {
		s.gone = append(s.gone, path)
		return
	}
	s.add(path)
	s.same[path] = disk != nil && disk.ID == target.ID
}

func (s *dirSet) add(path string) {
	s.all[path] = true
	s.made = append(s.made, path)
}

// list adds the directories with nothing captured in them, which no tree holds.
func (s *dirSet) list(target *state.Metadata) {
	for _, list := range [][]state.Path{target.Empty, target.Bare} {
		for _, path := range list {
			for at := string(path); at != "" && !s.all[at]; at, _ = index.Split(at) {
				s.add(at)
			}
		}
	}
	slices.Sort(s.made)
}

// targetHasDir reports whether the target has the directory.
func (p *planner) targetHasDir(path string) bool {
	if p.dirs.all[path] {
		return true
	}
	for at := path; ; at, _ = index.Split(at) {
		if p.dirs.same[at] {
			rec := p.captured.Index.Lookup(path)
			return rec != nil && rec.Mode() == object.Dir && !rec.ID().IsZero()
		}
		if at == "" {
			return false
		}
	}
}

// makeDir plans a directory of the target and reports whether it will be made. Two kinds are
// made only if a planned path needs them: a directory that Base has too, because the
// reverted step did not remove it, and one that the capture of the target could not read,
// because it may not have been empty.
func (p *planner) makeDir(path string, needed bool) (made bool) {
	c := apply.Change{Path: path, Action: apply.Mkdir, Mode: object.Dir, Perm: p.target.Meta.PermOf(path, object.Dir)}
	found, occupant, err := p.findOrRespell(path)
	switch {
	case err != nil:
		p.addConflict(path, err.Error())
		return false
	case occupant != "":
		if p.targetDirs.Lists(path) { // else the files in it are conflicts
			p.addConflict(path, reasonSameName+occupant)
		}
		return false
	case found != nil && found.Mode == object.Dir && found.Path == path && !p.cleared[path]:
		p.leftDir(path, found.Perm) // there, but in an ignored or unreadable place
		return false
	case !needed && (p.absence.covered.Lists(path) && !p.targetDirs.Lists(path) || p.way != nil && p.baseHasDir(path)):
		return false
	case found == nil || p.cleared[found.Path]:
	case found.Mode == object.Dir:
		p.respell(found.Path)
	case found.Mode == 0:
		p.addConflict(path, reasonSpecial)
		return false
	case p.changedOnDisk(found.Path):
		p.addConflict(path, ReasonInTheWayOf+found.Path)
		return false
	default:
		p.planDeleteUncaptured(found.Path, found.State(object.ID{}))
	}
	p.Changes = append(p.Changes, c)
	return true
}

// removeSurplus plans the removal of directories that the target did not have. One
// that still holds something when its turn comes stays.
func (p *planner) removeSurplus(emptied map[string]bool) error {
	empty := make(map[string]bool, len(p.now.Meta.Empty))
	for _, path := range p.now.Meta.Empty {
		empty[string(path)] = true
	}
	surplus := slices.Concat(p.dirs.gone, pathtext.Plain(p.now.Meta.Empty), pathtext.Plain(p.now.Meta.Bare))
	slices.Sort(surplus)
	for _, path := range slices.Backward(slices.Compact(surplus)) {
		rec := p.captured.Index.Lookup(path)
		if rec == nil || rec.Mode() != object.Dir || rec.Skip() != index.Captured || p.targetHasDir(path) {
			continue
		}
		if !p.scope.Covers(path) && !emptied[path] || p.cleared[path] || p.atBase.Unread(path) || p.isLaterDir(path) {
			continue
		}
		_, isNew, err := p.replaced(path)
		if err != nil {
			return err
		}
		if reason := p.absence.MayHaveExisted(path, true); reason != "" && !isNew {
			if empty[path] && !p.absence.covered.Lists(path) {
				p.addKeptTopmost(path, reason)
			}
			continue
		}
		if p.way != nil && p.leavesCaptured(path) || !p.decideRmdir(path, rec.Perm()) {
			continue
		}
		p.cleared[path] = true
		p.addChange(path, apply.Rmdir, nil, nil)
		addParents(emptied, path)
	}
	return nil
}

// leavesCaptured reports whether the plan leaves a captured entry in a directory.
func (p *planner) leavesCaptured(dir string) bool {
	d := p.captured.Index.Dirs[dir]
	if d == nil {
		return false
	}
	for rec := range d.All {
		if rec.Skip() == index.Captured && !p.cleared[index.Join(dir, string(rec.Name()))] {
			return true
		}
	}
	return false
}

// dirPermissions plans the bits of directories that both sides have, where they
// differ.
func (p *planner) dirPermissions() {
	if p.now.Meta.Perm.Dir != p.target.Meta.Perm.Dir {
		for path := range p.captured.Index.Dirs {
			if path != "" && p.targetHasDir(path) {
				p.dirPermission(path)
			}
		}
		return
	}
	for path := range state.DifferingPerms(p.now.Meta, p.target.Meta) {
		if p.targetHasDir(path) {
			p.dirPermission(path)
		}
	}
}

func (p *planner) dirPermission(path string) {
	rec := p.captured.Index.Lookup(path)
	if rec == nil || rec.Mode() != object.Dir || rec.Skip() != index.Captured || !p.scope.Covers(path) || p.cleared[path] {
		return
	}
	if want := p.target.Meta.PermOf(path, object.Dir); want != rec.Perm() && p.decideDirBits(path, want, rec.Perm()) {
		p.Changes = append(p.Changes, apply.Change{
			Path: path, Action: apply.Chmod, Mode: object.Dir, Perm: want,
			Was: &dir.State{Mode: object.Dir, Perm: rec.Perm()},
		})
	}
}

// decideDirBits applies the policy to the permission bits of a directory. Bits that the
// reverted step did not change stay and are not listed.
func (p *planner) decideDirBits(path string, want, now uint16) (proceed bool) {
	if p.way == nil {
		return true
	}
	if p.way.Policy == Overwrite {
		return want != p.way.Base.Meta.PermOf(path, object.Dir) || !p.baseHasDir(path)
	}
	switch was := p.way.Base.Meta.PermOf(path, object.Dir); {
	case p.isLaterDir(path):
		p.leaveToLater(path, ReasonMadeSince)
	case now == was:
		return true
	case want != was:
		p.leaveToLater(path, ReasonChangedSince)
	}
	return false
}

// decideRmdir applies the policy to the removal of a directory. A directory whose bits were
// changed since stays, except with Overwrite.
func (p *planner) decideRmdir(path string, now uint16) (proceed bool) {
	if p.way == nil || p.way.Policy == Overwrite || p.way.Base.Meta.PermOf(path, object.Dir) == now {
		return true
	}
	p.leaveToLater(path, ReasonChangedSince)
	return false
}

// leaveToLater lists a path that stays because of a later change: as kept with the policy
// Keep, as a conflict otherwise.
func (p *planner) leaveToLater(path, reason string) {
	if p.way.Policy == Keep {
		p.addKept(path, reason)
		return
	}
	p.addConflict(path, reason)
}
