package cairn

import (
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// directories plans what concerns directories as such: the target's empty ones that
// are missing, those that the target did not have, and permission bits. Directories
// that files need are made with the files; only their bits are planned here.
func (p *planner) directories() error {
	p.dirs.list(p.target.meta)
	needed, emptied := p.parents()
	for _, path := range slices.Backward(p.dirs.made) { // a directory needs those above it
		if p.disk.index.Dirs[path] == nil && (p.scope.covers(path) || needed[path]) && p.makeDir(path, needed[path]) {
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

// ownerWrites is what a directory needs for its owner to change names in it.
const ownerWrites = 0o300

// guardReadOnly plans bits for directories that will have to be made writable for
// the time being, even where they stay as they are: after a crash only the plan
// knows what they were.
func (p *planner) guardReadOnly() {
	planned, parents := make(map[string]bool), make(map[string]bool)
	for i := range p.changes {
		planned[p.changes[i].Path] = true
		dir, _ := index.Split(p.changes[i].Path)
		parents[dir] = true
	}
	for folder := range parents {
		rec := p.disk.index.Lookup(folder)
		if rec == nil || rec.Mode() != object.Dir || rec.Perm()&ownerWrites == ownerWrites || planned[folder] {
			continue
		}
		p.changes = append(p.changes, apply.Change{
			Path: folder, Action: apply.Chmod, Mode: object.Dir, Perm: rec.Perm(),
			Was: &dir.State{Mode: object.Dir, Perm: rec.Perm()},
		})
	}
}

// isGuard reports whether a change only protects a directory's bits.
func isGuard(c *apply.Change) bool {
	return c.Action == apply.Chmod && c.Mode == object.Dir && c.Was != nil && c.Was.Perm == c.Perm
}

// parents returns the directories above what the plan makes, and above what it deletes
// or would delete if it still stood there: those go along even where the scope names only
// the files.
func (p *planner) parents() (needed, emptied map[string]bool) {
	needed, emptied = make(map[string]bool), make(map[string]bool)
	for i := range p.changes {
		set := needed
		if p.changes[i].Action == apply.Delete {
			set = emptied
		}
		addParents(set, p.changes[i].Path)
	}
	maps.Copy(emptied, p.aboveAdded())
	return needed, emptied
}

// aboveAdded returns the directories above what goes because the step added it.
func (p *planner) aboveAdded() map[string]bool {
	above := make(map[string]bool)
	for i := range p.step {
		if c := &p.step[i]; c.Status == Added && p.scope.covers(c.Path) {
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

// dirSet is the directories of the target, and what the disk has beside them. Only
// trees that differ have been looked into.
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

// note takes a directory of the disk (nil: of the target alone) or of the target (nil:
// of the disk alone).
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
func (s *dirSet) list(target *metadata) {
	for _, list := range [][]pathText{target.Empty, target.Bare} {
		for _, path := range list {
			for at := string(path); at != "" && !s.all[at]; at, _ = index.Split(at) {
				s.add(at)
			}
		}
	}
	slices.Sort(s.made)
}

// has reports whether the target has the directory.
func (p *planner) has(path string) bool {
	if p.dirs.all[path] {
		return true
	}
	for at := path; ; at, _ = index.Split(at) {
		if p.dirs.same[at] {
			rec := p.disk.index.Lookup(path)
			return rec != nil && rec.Mode() == object.Dir && !rec.ID().IsZero()
		}
		if at == "" {
			return false
		}
	}
}

// makeDir plans a directory of the target. It reports whether the directory will be made.
// One that the base has too, and that is gone from the disk, is made only where something
// needs it: what is taken back has not removed it. The same holds for one that the target
// could not look into: an empty directory would be a guess.
func (p *planner) makeDir(path string, needed bool) (made bool) {
	c := apply.Change{Path: path, Action: apply.Mkdir, Mode: object.Dir, Perm: p.target.meta.perm(path, object.Dir)}
	found, taken, err := p.lookFor(path)
	switch {
	case err != nil:
		p.conflict(path, err.Error())
		return false
	case taken != "":
		if p.targetDirs.lists(path) { // else the files in it are conflicts
			p.conflict(path, reasonSameName+taken)
		}
		return false
	case found != nil && found.Mode == object.Dir && found.Path == path && !p.cleared[path]:
		p.leftDir(path, found.Perm) // there, but in an ignored or unreadable place
		return false
	case !needed && (p.covered.lists(path) || p.way != nil && p.baseHasDir(path)):
		return false
	case found == nil || p.cleared[found.Path]:
	case found.Mode == object.Dir:
		p.respell(found.Path)
	case found.Mode == 0:
		p.conflict(path, reasonSpecial)
		return false
	case p.standsSince(found.Path):
		p.conflict(path, reasonInTheWayOf+found.Path)
		return false
	default:
		p.takeUncaptured(found.Path, found.State(object.ID{}))
	}
	p.changes = append(p.changes, c)
	return true
}

// removeSurplus plans the removal of directories that the target did not have. One
// that still holds something when its turn comes stays.
func (p *planner) removeSurplus(emptied map[string]bool) error {
	empty := make(map[string]bool, len(p.now.meta.Empty))
	for _, path := range p.now.meta.Empty {
		empty[string(path)] = true
	}
	surplus := slices.Concat(p.dirs.gone, pathtext.Plain(p.now.meta.Empty), pathtext.Plain(p.now.meta.Bare))
	slices.Sort(surplus)
	for _, path := range slices.Backward(slices.Compact(surplus)) {
		rec := p.disk.index.Lookup(path)
		if rec == nil || rec.Mode() != object.Dir || rec.Skip() != index.Captured || p.has(path) {
			continue
		}
		if !p.scope.covers(path) && !emptied[path] || p.cleared[path] || p.atBase.unread(path) || p.isLaterDir(path) {
			continue
		}
		_, isNew, err := p.replaced(path)
		if err != nil {
			return err
		}
		if reason := p.mayHaveExisted(path, true); reason != "" && !isNew {
			if empty[path] && !p.covered.lists(path) {
				p.keepTopmost(path, reason)
			}
			continue
		}
		if p.way != nil && p.holdsMore(path) || !p.settleGone(path, rec.Perm()) {
			continue
		}
		p.cleared[path] = true
		p.change(path, apply.Rmdir, nil, nil)
		addParents(emptied, path)
	}
	return nil
}

// holdsMore reports whether something captured in a directory stays.
func (p *planner) holdsMore(dir string) bool {
	d := p.disk.index.Dirs[dir]
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
	if p.now.meta.Perm.Dir != p.target.meta.Perm.Dir {
		for path := range p.disk.index.Dirs {
			if path != "" && p.has(path) {
				p.dirPermission(path)
			}
		}
		return
	}
	for path := range differingPerms(p.now.meta, p.target.meta) {
		if p.has(path) {
			p.dirPermission(path)
		}
	}
}

func (p *planner) dirPermission(path string) {
	rec := p.disk.index.Lookup(path)
	if rec == nil || rec.Mode() != object.Dir || rec.Skip() != index.Captured || !p.scope.covers(path) || p.cleared[path] {
		return
	}
	if want := p.target.meta.perm(path, object.Dir); want != rec.Perm() && p.settleDir(path, want, rec.Perm()) {
		p.changes = append(p.changes, apply.Change{
			Path: path, Action: apply.Chmod, Mode: object.Dir, Perm: want,
			Was: &dir.State{Mode: object.Dir, Perm: rec.Perm()},
		})
	}
}

// settleDir decides about the bits of a directory that are neither as at the target nor,
// because of a later change, as at the base. Bits that what is taken back did not change
// stay without a word.
func (p *planner) settleDir(path string, want, now uint16) (proceed bool) {
	if p.way == nil {
		return true
	}
	if p.way.policy == Overwrite {
		return want != p.way.base.meta.perm(path, object.Dir) || !p.baseHasDir(path)
	}
	switch was := p.way.base.meta.perm(path, object.Dir); {
	case p.isLaterDir(path):
		p.stay(path, reasonMadeSince)
	case now == was:
		return true
	case want != was:
		p.stay(path, reasonChangedSince)
	}
	return false
}

// settleGone decides about a directory that goes and whose bits were changed since.
func (p *planner) settleGone(path string, now uint16) (proceed bool) {
	if p.way == nil || p.way.policy == Overwrite || p.way.base.meta.perm(path, object.Dir) == now {
		return true
	}
	p.stay(path, reasonChangedSince)
	return false
}

// stay leaves a path to a later change.
func (p *planner) stay(path, reason string) {
	if p.way.policy == Keep {
		p.keep(path, reason)
		return
	}
	p.conflict(path, reason)
}
