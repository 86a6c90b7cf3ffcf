package plan

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

const reasonOtherPlan = "another patch brings back something in its place: "

// Merge adds the changes of another plan. For a path that both plans change, the change of p
// stays, and a file of the other plan takes the place of a directory that p removes. A file of the
// other plan is a conflict where p makes a directory, and so is a path below a file of p. A
// directory in which one of the plans makes something is not removed by the other.
func (p *Plan) Merge(other *Plan) {
	has := make(map[string]apply.Action, len(p.Changes))
	for i := range p.Changes {
		has[p.Changes[i].Path] = p.Changes[i].Action
	}
	files, dirs := p.uses()
	for _, c := range other.Changes {
		mine, both := has[c.Path]
		if at := inPlaceOf(&c, files, dirs); at != "" {
			p.Conflicts = append(p.Conflicts, state.PathReason{Path: state.Path(c.Path), Reason: reasonOtherPlan + at})
		} else if !both || mine == apply.Rmdir && c.Action == apply.Create {
			p.Changes = append(p.Changes, c)
		}
	}
	p.dropUsedRmdirs()
	p.Losses = append(p.Losses, other.Losses...)
	p.Kept = append(p.Kept, other.Kept...)
	p.Conflicts = append(p.Conflicts, other.Conflicts...)
}

// inPlaceOf returns the path of a plan that stands where c makes something: a directory at its path,
// or a file above it. It returns "" for none.
func inPlaceOf(c *apply.Change, files, dirs map[string]bool) string {
	if c.Action.Removes() {
		return ""
	}
	if dirs[c.Path] && c.Mode != object.Dir {
		return c.Path
	}
	for up, _ := index.Split(c.Path); up != ""; up, _ = index.Split(up) {
		if files[up] {
			return up
		}
	}
	return ""
}

// dropUsedRmdirs drops the removal of directories in which the plan makes something. A
// directory that gives way to a file of its name is still removed.
func (p *Plan) dropUsedRmdirs() {
	files, dirs := p.uses()
	p.Changes = slices.DeleteFunc(p.Changes, func(c apply.Change) bool {
		return c.Action == apply.Rmdir && dirs[c.Path] && !files[c.Path]
	})
}

// uses lists the files and the directories that the plan makes or changes, with the directories
// above them.
func (p *Plan) uses() (files, dirs map[string]bool) {
	files, dirs = make(map[string]bool), make(map[string]bool)
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.Action.Removes() {
			continue
		}
		if c.Mode == object.Dir {
			dirs[c.Path] = true
		} else {
			files[c.Path] = true
		}
		addParents(dirs, c.Path)
	}
	return files, dirs
}
