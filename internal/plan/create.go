package plan

import (
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// create plans a file of the target that the capture of the disk lacks. An uncaptured file
// may stand at the path, or in place of one of its directories.
func (p *planner) create(c history.TreeChange) error {
	found, occupant, err := p.findOrRespell(c.Path)
	switch {
	case err != nil:
		p.addConflict(c.Path, err.Error())
	case occupant != "":
		p.block(c.Path, reasonSameName+occupant)
	case found == nil || p.cleared[found.Path]:
		p.addChange(c.Path, apply.Create, c.New, nil)
	case found.Mode == object.Dir:
		p.replaceDir(c, found)
	case found.Mode == 0:
		p.block(c.Path, reasonSpecial)
	case found.Path == c.Path:
		p.replaceUncaptured(c, found)
	case p.isCaptured(found.Path) && p.instead[found.Path] == c.Path:
		p.createOver(c, found.Path)
	case p.changedOnDisk(found.Path):
		p.block(c.Path, ReasonInTheWayOf+found.Path)
	default: // a file where a directory has to be, or of another spelling
		p.planDeleteUncaptured(found.Path, found.State(object.ID{}))
		p.addChange(c.Path, apply.Create, c.New, nil)
	}
	return nil
}

// replaceUncaptured plans a file of the target in place of an uncaptured one. If the contents
// are equal, only the permission bits change.
func (p *planner) replaceUncaptured(c history.TreeChange, found *dir.Found) {
	action, was := apply.Modify, found.State(object.ID{})
	size, err := p.store.BlobSize(c.New)
	if found.Mode.IsFile() == c.New.Mode.IsFile() && err == nil && (found.Stat.Size == size || !found.Mode.IsFile()) {
		if at, err := p.live.Identify(c.Path); err == nil && at.ID == c.New.ID {
			standing := history.PathEnd{Entry: &object.Entry{Mode: at.Mode, ID: at.ID}, Perm: at.Perm}
			if standing.Same(history.EndWith(p.target, c.Path, c.New)) {
				return
			}
			action, was = apply.Chmod, at
		}
	}
	p.Losses = append(p.Losses, c.Path)
	p.addChange(c.Path, action, c.New, was)
}

// replaceDir plans a file in place of a directory. The directory goes only if everything in
// it is captured, or goes as well.
func (p *planner) replaceDir(c history.TreeChange, found *dir.Found) {
	if inside := p.live.Uncaptured(found.Path, p.removed); inside != "" {
		p.block(c.Path, reasonInTheWay+inside)
		return
	}
	if p.changedDir(found.Path, found.Perm) {
		p.block(c.Path, ReasonInTheWayOf+found.Path)
		return
	}
	p.addChange(c.Path, apply.Create, c.New, nil)
	p.removeDirs(found.Path)
}

// removeDirs plans the removal of a captured directory and of everything below it. A revert
// plans only the directories here: files changed since stay, and dropNonEmptyDirs then
// withdraws the removal of their directories.
func (p *planner) removeDirs(path string) {
	if rec := p.captured.Index.Lookup(path); p.cleared[path] || rec != nil && p.changedDir(path, rec.Perm()) {
		return
	}
	p.cleared[path] = true
	d := p.captured.Index.Dirs[path]
	if d != nil {
		for rec := range d.All {
			switch at := index.Join(path, string(rec.Name())); {
			case rec.Mode() == object.Dir:
				p.removeDirs(at)
			case p.way == nil && !p.cleared[at]: // another spelling of the path does not tell that it goes
				p.removeCaptured(at)
			}
		}
	}
	p.addChange(path, apply.Rmdir, nil, nil)
}
