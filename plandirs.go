package cairn

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree"
)

// directories plans what concerns directories as such: the target's empty ones that
// are missing, those that the target did not have, and permission bits. Directories
// that files need are made with the files; only their bits are planned here.
func (p *planner) directories() error {
	target, err := p.targetDirs()
	if err != nil {
		return err
	}
	needed, emptied := p.parents()
	for _, path := range target.made {
		if p.disk.index.Dirs[path] == nil && (p.scope.covers(path) || needed[path]) {
			p.makeDir(path)
		}
	}
	if !p.keepNew {
		p.removeSurplus("", target.all, emptied)
	}
	p.dirPermissions(target.all)
	p.guardReadOnly()
	return nil
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
	for dir := range parents {
		rec := p.disk.index.Lookup(dir)
		if rec == nil || rec.Mode() != object.Dir || rec.Perm()&ownerWrites == ownerWrites || planned[dir] {
			continue
		}
		p.changes = append(p.changes, worktree.Change{
			Path: dir, Action: worktree.Chmod, Mode: object.Dir, Perm: rec.Perm(),
			Was: &worktree.Expect{Mode: object.Dir, Perm: rec.Perm()},
		})
	}
}

// isGuard reports whether a change only protects a directory's bits.
func isGuard(c *worktree.Change) bool {
	return c.Action == worktree.Chmod && c.Mode == object.Dir && c.Was != nil && c.Was.Perm == c.Perm
}

// parents returns the directories above what the plan makes, and above what it
// deletes: those go along even where the scope names only the files.
func (p *planner) parents() (needed, emptied map[string]bool) {
	needed, emptied = make(map[string]bool), make(map[string]bool)
	for i := range p.changes {
		set := needed
		if p.changes[i].Action == worktree.Delete {
			set = emptied
		}
		for dir, _ := index.Split(p.changes[i].Path); dir != "" && !set[dir]; dir, _ = index.Split(dir) {
			set[dir] = true
		}
	}
	return needed, emptied
}

// dirSet is the directories of the target. A directory with nothing captured in it
// is known only from the metadata.
type dirSet struct {
	all  map[string]bool
	made []string // the empty ones, and those that new files need, parents first
}

// targetDirs collects the target's directories as far as the plan can need them:
// those that the disk lacks or has, below the scope. Sub-trees that are equal on
// both sides hold the same directories and are not read.
func (p *planner) targetDirs() (*dirSet, error) {
	s := &dirSet{all: make(map[string]bool)}
	for _, list := range [][]pathText{p.target.meta.Empty, p.target.meta.Bare} {
		for _, path := range list {
			for at := string(path); at != "" && !s.all[at]; at, _ = index.Split(at) {
				s.all[at] = true
				s.made = append(s.made, at)
			}
		}
	}
	if err := p.treeDirs("", p.now.tree, p.target.tree, s); err != nil {
		return nil, err
	}
	slices.Sort(s.made)
	return s, nil
}

func (p *planner) treeDirs(dir string, now, target object.ID, s *dirSet) error {
	if now == target {
		p.sameDirs(dir, s)
		return nil
	}
	entries, err := p.repo.readTree(target)
	if err != nil {
		return err
	}
	present, err := p.repo.readTree(now)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := index.Join(dir, e.Name)
		if e.Mode != object.Dir || !p.scope.leads(path) {
			continue
		}
		s.all[path] = true
		s.made = append(s.made, path)
		var same object.ID
		for _, o := range present {
			if o.Name == e.Name && o.Mode == object.Dir {
				same = o.ID
			}
		}
		if err := p.treeDirs(path, same, e.ID, s); err != nil {
			return err
		}
	}
	return nil
}

// sameDirs takes the directories of an equal sub-tree from the stat cache.
func (p *planner) sameDirs(dir string, s *dirSet) {
	d := p.disk.index.Dirs[dir]
	if d == nil {
		return
	}
	for rec := range d.All {
		if rec.Mode() == object.Dir && !rec.ID().IsZero() {
			path := index.Join(dir, string(rec.Name()))
			s.all[path] = true
			p.sameDirs(path, s)
		}
	}
}

func (p *planner) makeDir(path string) {
	c := worktree.Change{Path: path, Action: worktree.Mkdir, Mode: object.Dir, Perm: p.target.meta.perm(path, object.Dir)}
	found, err := worktree.Look(p.repo.root, path)
	switch {
	case err != nil:
		p.conflict(path, err.Error())
	case found == nil || p.cleared[found.Path]:
		p.changes = append(p.changes, c)
	case found.Mode == object.Dir: // there, but in an ignored or unreadable place
	case found.Mode == 0:
		p.conflict(path, reasonSpecial)
	default:
		p.losses = append(p.losses, found.Path)
		p.cleared[found.Path] = true
		p.change(found.Path, worktree.Delete, nil, found.Expect(object.ID{}))
		p.changes = append(p.changes, c)
	}
}

// removeSurplus plans the removal of directories that the target did not have. One
// that still holds something when its turn comes stays.
func (p *planner) removeSurplus(dir string, target, emptied map[string]bool) {
	d := p.disk.index.Dirs[dir]
	if d == nil {
		return
	}
	for rec := range d.All {
		path := index.Join(dir, string(rec.Name()))
		if rec.Mode() != object.Dir || rec.Skip() != index.Captured || !p.scope.leads(path) {
			continue
		}
		p.removeSurplus(path, target, emptied)
		if target[path] || !p.scope.covers(path) && !emptied[path] || p.cleared[path] || p.atBase.unread(path) || p.mayHaveExisted(path, true) != "" {
			continue
		}
		p.cleared[path] = true
		p.change(path, worktree.Rmdir, nil, nil)
	}
}

// dirPermissions plans the bits of directories that both sides have, where they
// differ.
func (p *planner) dirPermissions(target map[string]bool) {
	if p.now.meta.Perm.Dir != p.target.meta.Perm.Dir {
		for path := range target {
			p.dirPermission(path)
		}
		return
	}
	for path := range differingPerms(p.now.meta, p.target.meta) {
		if target[path] {
			p.dirPermission(path)
		}
	}
}

func (p *planner) dirPermission(path string) {
	rec := p.disk.index.Lookup(path)
	if rec == nil || rec.Mode() != object.Dir || rec.Skip() != index.Captured || !p.scope.covers(path) || p.cleared[path] {
		return
	}
	if want := p.target.meta.perm(path, object.Dir); want != rec.Perm() {
		p.changes = append(p.changes, worktree.Change{
			Path: path, Action: worktree.Chmod, Mode: object.Dir, Perm: want,
			Was: &worktree.Expect{Mode: object.Dir, Perm: rec.Perm()},
		})
	}
}
