package plan

import (
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// On macOS and Windows README and readme are one file, and which of the two it is called
// makes two trees. A target has one spelling, the disk may have another: then what the
// disk has is removed or renamed first. Which names are the same is for the file system to
// say; nothing here knows its rules.

const reasonSameName = "the file system takes it for the same as "

func (p *planner) isCaptured(path string) bool {
	rec := p.captured.Index.Lookup(path)
	return rec != nil && rec.Skip() == index.Captured
}

// findOrRespell finds what stands at a path of the target, or in the way to it, whatever its
// spelling. Directories on the way that are spelled another way are planned to be renamed.
// taken is another path of the target that has the name already: both cannot be there.
func (p *planner) findOrRespell(path string) (found *dir.Found, taken string, err error) {
	for at := path; ; {
		found, err = p.live.Find(at)
		if err != nil || found == nil {
			return nil, "", err
		}
		if found.As != "" {
			at = found.Path + at[len(found.As):]
			if has, err := p.targetHas(found.Path); has || err != nil {
				p.instead[at] = path
				return nil, found.Path, err
			}
		}
		if wanted := sameDepth(path, found.Path); wanted != found.Path {
			p.instead[found.Path] = wanted
		}
		if found.As == "" || found.Path == at || found.Mode != object.Dir {
			return found, "", nil
		}
		p.respell(found.Path)
	}
}

// sameDepth cuts a path off after as many names as another one has.
func sameDepth(path, other string) string {
	for n := strings.Count(other, "/"); strings.Count(path, "/") > n; {
		path, _ = index.Split(path)
	}
	return path
}

func (p *planner) targetHas(path string) (bool, error) {
	e, err := p.store.EntryOrNil(p.target.Tree, path)
	return e != nil || p.targetDirs.Lists(path), err
}

// respell plans that a directory goes, or gets the spelling of what is to be instead of it.
func (p *planner) respell(dir string) {
	if !p.cleared[dir] {
		p.cleared[dir] = true
		p.addChange(dir, apply.Rmdir, nil, nil)
	}
}

// createOver plans a file in the place of a captured one that the plan would leave alone,
// because it is out of its scope, but that has the same name. What somebody made later
// goes for no revert.
func (p *planner) createOver(c history.TreeChange, other string) {
	if p.way != nil {
		p.block(c.Path, reasonSameName+other)
		return
	}
	p.removeCaptured(other)
	p.addChange(c.Path, apply.Create, c.New, nil)
}

// removeCaptured plans the removal of a captured file that is in the way, whatever was
// decided about it before.
func (p *planner) removeCaptured(path string) {
	p.removed[path] = true
	p.planDelete(path, expect(p.captured.Index.Lookup(path)))
}

// keepSpellingsTogether tells those changes that make room for another spelling what that
// is. Where it will not be made, for whatever reason, what is there stays: the two are one
// file. A directory may go all the same.
func (p *planner) keepSpellingsTogether() {
	if len(p.instead) == 0 {
		return
	}
	made, changes := p.made(), p.Changes[:0]
	for _, c := range p.Changes {
		switch as := p.instead[c.Path]; {
		case as == "" || !c.Action.Removes():
		case made[as]:
			c.As = as
		case c.Action == apply.Delete:
			p.addConflict(c.Path, ReasonOtherHalf+as)
			continue
		}
		changes = append(changes, c)
	}
	p.Changes = changes
}

// made has what the plan makes, and the directories above it.
func (p *planner) made() map[string]bool {
	made := make(map[string]bool)
	for i := range p.Changes {
		c := &p.Changes[i]
		for at := c.Path; c.Action.Makes() && at != "" && !made[at]; at, _ = index.Split(at) {
			made[at] = true
		}
	}
	return made
}
