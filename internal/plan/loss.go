package plan

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

// oversized plans the deletion of skipped files of the disk that the target lacked.
func (p *planner) oversized() error {
	for _, s := range p.now.Meta.Skipped {
		path := string(s.Path)
		e, err := p.store.EntryOrNil(p.target.Tree, path)
		if err != nil {
			return err
		}
		rec := p.captured.Index.Lookup(path)
		if rec != nil && rec.Skip() == index.Unreadable && p.way == nil && !p.scope.Covers(path) {
			p.addUnseen(path)
		}
		if e != nil || rec == nil || rec.Skip() == index.Store || !p.scope.Covers(path) || p.cleared[path] {
			continue
		}
		inTheWay, isNew, err := p.replaced(path)
		if err != nil {
			return err
		}
		if proceed, err := p.decideUncaptured(path); err != nil || !proceed {
			if err != nil {
				return err
			}
			continue
		}
		reason := ""
		if !isNew {
			reason = p.absence.MayHaveExisted(path, rec.Mode() == object.Dir)
		}
		switch {
		case p.keepNew && !inTheWay || p.absence.covered.Lists(path):
			continue // it was there then and is there now: nothing to report
		case strings.HasPrefix(reason, ReasonNotCaptured):
			p.addKeptTopmost(path, reason)
		case reason != "":
			p.addKept(path, reason)
		case rec.Skip() == index.TooLarge:
			p.planDeleteUncaptured(path, &dir.State{Mode: rec.Mode(), Perm: rec.Perm(), Stat: rec.Stat()})
		case rec.Skip() == index.Unreadable:
			p.addKept(path, reasonUnreadable)
		case rec.Skip() == index.Special:
			p.addKept(path, reasonSpecial)
		case rec.Skip() == index.Secret:
			p.addKept(path, reasonSecret)
		default:
			p.addKept(path, rec.Skip().String())
		}
	}
	return nil
}

// addUnseen lists the paths that the scope names in a directory that cannot be read. The
// target does not have them, and the disk may.
func (p *planner) addUnseen(folder string) {
	for _, path := range p.scope.Named() {
		if !isBelow(path, folder) {
			continue
		}
		if there, err := p.targetDirs.Holds(path); err != nil || there {
			continue // planned, and found to be in the way where it is
		}
		if found, err := p.live.Find(path); err != nil || found != nil {
			p.addKept(path, reasonUnreadable)
		}
	}
}

// leftFiles plans the deletion of files that the reverted step added and that ignore rules
// now keep out of the capture.
func (p *planner) leftFiles() error {
	if p.way == nil {
		return nil
	}
	for i := range p.step {
		c := &p.step[i]
		rec := p.captured.Index.Lookup(c.Path)
		if c.Status != history.Added || p.cleared[c.Path] || !p.scope.Covers(c.Path) || rec != nil && rec.Skip() != index.Rules {
			continue
		}
		if err := p.planDeleteLeftover(c.Path); err != nil {
			return err
		}
	}
	return nil
}

// leftBehind plans the removal of directories that the reverted step made and that ignore rules now keep out
// of the capture.
func (p *planner) leftBehind() error {
	if p.way != nil {
		p.leftDirs()
		p.leftEmpty()
	}
	return nil
}

func (p *planner) planDeleteLeftover(path string) error {
	found, err := p.live.Find(path)
	switch {
	case err != nil:
		p.addConflict(path, err.Error())
		return nil
	case found == nil || found.Path != path:
		return nil
	case !found.Mode.IsFile() && found.Mode != object.Symlink:
		p.addConflict(path, ReasonInTheWayOf+path)
		return nil
	}
	if proceed, err := p.decide(history.TreeChange{Path: path}); err != nil || !proceed {
		return err
	}
	if reason := p.absence.MayHaveExisted(path, false); reason != "" {
		p.addKept(path, reason)
		return nil
	}
	p.planDeleteUncaptured(path, found.State(object.ID{}))
	return nil
}

// leftDirs plans the removal of uncaptured directories that the reverted step made and that
// are empty now. A directory in place of a file that the step made is a later change and
// stays.
func (p *planner) leftDirs() {
	above := p.aboveAdded()
	for _, folder := range slices.Backward(slices.Sorted(maps.Keys(p.way.Made))) {
		rec := p.captured.Index.Lookup(folder)
		if !p.baseHasDir(folder) || p.cleared[folder] || !p.scope.Covers(folder) && !above[folder] || rec != nil && rec.Skip() != index.Denied || p.targetHasDir(folder) {
			continue
		}
		names, err := p.live.Names(folder)
		if err != nil || slices.ContainsFunc(names, func(name string) bool { return !p.cleared[index.Join(folder, name)] }) {
			continue
		}
		found, err := p.live.Find(folder)
		if err != nil || found == nil || !p.decideRmdir(folder, found.Perm) {
			continue
		}
		p.cleared[folder], p.removed[folder] = true, true
		p.addChange(folder, apply.Rmdir, nil, nil)
	}
}

// decideUncaptured applies the policy to an uncaptured path that the target lacks. A revert
// touches it only if Base has a file there.
func (p *planner) decideUncaptured(path string) (proceed bool, err error) {
	if p.way == nil {
		return true, nil
	}
	if base, err := p.store.EndOf(p.way.Base, path); err != nil || base.Entry == nil {
		return false, err
	}
	return p.decide(history.TreeChange{Path: path})
}

// Save stores the uncaptured files that the plan overwrites or deletes. If a file cannot be
// saved, its changes are withdrawn.
func (p *Plan) Save(root string, sink scan.Sink) map[string]*dir.State {
	saved, lost := make(map[string]*dir.State), make(map[string]bool)
	for _, path := range p.Losses {
		was, err := scan.Save(root, path, sink)
		if err == nil {
			saved[path] = was
			continue
		}
		lost[path] = true
		if !errors.Is(err, scan.ErrGone) {
			p.Conflicts = append(p.Conflicts, state.PathReason{Path: state.Path(path), Reason: "cannot be saved first: " + err.Error()})
		}
	}
	p.withdraw(lost)
	for i := range p.Changes {
		c := &p.Changes[i]
		if was := saved[c.Path]; was != nil && c.Was != nil {
			c.Was = was
		}
	}
	return saved
}

// withdraw removes the changes at and below some paths from the plan.
func (p *Plan) withdraw(paths map[string]bool) {
	if len(paths) == 0 {
		return
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c apply.Change) bool {
		for at := c.Path; at != ""; at, _ = index.Split(at) {
			if paths[at] {
				return true
			}
		}
		return false
	})
}
