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
// makes two trees. If the disk has another spelling than the target, the plan
// removes or renames the file first. Only the file system decides which names are equal;
// this package has no rules for that.

const reasonSameName = "the file system takes it for the same as "

func (p *planner) isCaptured(path string) bool {
	rec := p.captured.Index.Lookup(path)
	return rec != nil && rec.Skip() == index.Captured
}

// findOrRespell returns the file at a path of the target, or the file in the way to it, in any
// spelling. It plans to rename directories on the way that are spelled differently. occupant is
// another path of the target with the same name on this file system: a conflict.
func (p *planner) findOrRespell(path string) (found *dir.Found, occupant string, err error) {
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

// respell plans the removal of a directory, which becomes a rename if another spelling is made.
func (p *planner) respell(dir string) {
	if !p.cleared[dir] {
		p.cleared[dir] = true
		p.addChange(dir, apply.Rmdir, nil, nil)
	}
}

// createOver plans a file in place of a captured one outside of the scope that has the same
// name on this file system. In a revert it is a conflict.
func (p *planner) createOver(c history.TreeChange, other string) {
	if p.way != nil {
		p.block(c.Path, reasonSameName+other)
		return
	}
	p.removeCaptured(other)
	p.addChange(c.Path, apply.Create, c.New, nil)
}

// removeCaptured plans the deletion of a captured file that is in the way.
func (p *planner) removeCaptured(path string) {
	p.removed[path] = true
	p.planDelete(path, expect(p.captured.Index.Lookup(path)))
}

// pairSpellings sets Change.As of removals that make room for another spelling. If the
// other spelling is not in the plan, the file stays, because both names are one file. A
// directory is removed even then.
func (p *planner) pairSpellings() {
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
		default:
			c.As = ""
		}
		changes = append(changes, c)
	}
	p.Changes = changes
}

// made returns the paths that the plan makes and the directories above them.
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
