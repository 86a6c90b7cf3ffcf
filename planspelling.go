package cairn

import (
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree"
)

// On macOS and Windows README and readme are one file, and which of the two it is called
// makes two trees. A target has one spelling, the disk may have another: then what the
// disk has is removed or renamed first. Which names are the same is for the file system to
// say; nothing here knows its rules.

const reasonSameName = "the file system takes it for the same as "

// isKnown reports whether a path is on disk, spelled so.
func (c *capture) isKnown(path string) bool { return c.index.Lookup(path) != nil }

func (p *planner) isCaptured(path string) bool {
	rec := p.disk.index.Lookup(path)
	return rec != nil && rec.Skip() == index.Captured
}

// lookFor finds what stands at a path of the target, or in the way to it, whatever its
// spelling. Directories on the way that are spelled another way are planned to be renamed.
// taken is another path of the target that has the name already: both cannot be there.
func (p *planner) lookFor(path string) (found *worktree.Found, taken string, err error) {
	for at := path; ; at = found.Path + at[len(found.As):] {
		found, err = worktree.Look(p.repo.root, at, p.disk.isKnown)
		if err != nil || found == nil {
			return nil, "", err
		}
		wanted := sameDepth(path, found.Path)
		if wanted == found.Path {
			return found, "", nil
		}
		if has, err := p.targetHas(found.Path); has || err != nil {
			p.instead[found.Path+at[len(found.As):]] = path
			return nil, found.Path, err
		}
		if found.As == "" || found.As == at || found.Mode != object.Dir {
			p.instead[found.Path] = wanted
			return found, "", nil
		}
		p.respell(found.Path, wanted)
	}
}

// sameDepth cuts a path off after as many names as another one has.
func sameDepth(path, other string) string {
	names := strings.SplitAfterN(path, "/", strings.Count(other, "/")+2)
	return strings.TrimSuffix(strings.Join(names[:strings.Count(other, "/")+1], ""), "/")
}

func (p *planner) targetHas(path string) (bool, error) {
	e, err := p.repo.entryOrNil(p.target.tree, path)
	return e != nil || p.target.meta.lists(path), err
}

// respell plans that a directory goes, or gets the spelling of what is to be in its place.
func (p *planner) respell(dir, wanted string) {
	p.instead[dir] = wanted
	if !p.cleared[dir] {
		p.cleared[dir] = true
		p.change(dir, worktree.Rmdir, nil, nil)
	}
}

// createOver plans a file in the place of a captured one that the plan would leave alone,
// because it is out of its scope, but that has the same name. What somebody made later
// goes for no revert.
func (p *planner) createOver(c treeChange, other string) {
	if p.way != nil {
		p.block(c.path, reasonSameName+other)
		return
	}
	p.removeCaptured(other)
	p.change(c.path, worktree.Create, c.new, nil)
}

// removeCaptured plans the removal of a captured file that is in the way, whatever was
// decided about it before.
func (p *planner) removeCaptured(path string) {
	p.kept = slices.DeleteFunc(p.kept, func(k PathReason) bool { return k.Path == path })
	p.cleared[path] = true
	p.change(path, worktree.Delete, nil, expect(p.disk.index.Lookup(path)))
}

// keepSpellingsTogether tells those changes that make room for another spelling what that
// is. Where it will not be made, for whatever reason, what is there stays: the two are one
// file. A directory may go all the same.
func (p *planner) keepSpellingsTogether() {
	if len(p.instead) == 0 {
		return
	}
	made := p.made()
	p.changes = slices.DeleteFunc(p.changes, func(c worktree.Change) bool {
		as := p.instead[c.Path]
		stays := as != "" && !made[as] && c.Action == worktree.Delete
		if stays {
			p.conflict(c.Path, reasonOtherHalf+as)
		}
		return stays
	})
	for i := range p.changes {
		c := &p.changes[i]
		if as := p.instead[c.Path]; made[as] && (c.Action == worktree.Delete || c.Action == worktree.Rmdir) {
			c.As = as
		}
	}
}

// made has what the plan makes, and the directories above it.
func (p *planner) made() map[string]bool {
	made := make(map[string]bool)
	for i := range p.changes {
		switch c := &p.changes[i]; c.Action {
		case worktree.Create, worktree.Modify, worktree.Mkdir:
			for at := c.Path; at != "" && !made[at]; at, _ = index.Split(at) {
				made[at] = true
			}
		}
	}
	return made
}
