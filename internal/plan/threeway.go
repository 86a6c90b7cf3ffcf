package plan

import (
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// ThreeWay describes what a revert takes back. Base is the state after the step, session or
// operation. A path that still equals Base goes back to the target. For a path that was
// changed since, the policy decides.
type ThreeWay struct {
	Base   state.State
	Policy Policy
	Made   map[string]bool // paths that the reverted step made where nothing stood
}

// ChangedBetween returns the scope of the files and directories that differ between two
// states. A revert of the difference touches nothing else. A directory and an added file are
// selected alone: paths made later below them are outside of the scope. A deleted or modified
// file is selected with everything below its name, because that stands in its way.
func ChangedBetween(r *history.Store, target, base state.State, within *state.PathScope, step []history.Change) (*state.PathScope, error) {
	var paths, alone []string
	for i := range step {
		if step[i].Status == history.Added {
			alone = append(alone, step[i].Path)
		} else {
			paths = append(paths, step[i].Path)
		}
	}
	then, later := state.NewCoverage(target.Meta), state.NewCoverage(base.Meta)
	dirs, err := r.ChangedDirs(target, base)
	for path := range dirs {
		if within.Covers(path) && !then.Unread(path) && !later.Unread(path) {
			alone = append(alone, path)
		}
	}
	return state.NewPathScope(paths).WithAlone(alone), err
}

// onDisk returns the file or symlink at a path of the disk. An uncaptured file is read. A
// directory or a special file gives an empty end.
func (p *planner) onDisk(path string, captured *object.Entry) (history.PathEnd, error) {
	if captured != nil {
		return history.EndWith(p.now, path, captured), nil
	}
	found, err := p.live.Find(path)
	if err != nil || found == nil || found.Path != path || found.Mode == 0 || found.Mode == object.Dir {
		return history.PathEnd{}, err
	}
	was, err := p.live.Identify(path)
	if err != nil {
		return history.PathEnd{}, err
	}
	return history.PathEnd{Entry: &object.Entry{Mode: was.Mode, ID: was.ID}, Perm: was.Perm}, nil
}

// decide applies the policy to a path that differs from the target. It reports whether the
// caller plans the change to the target. Otherwise decide has planned a merge, or listed the
// path as kept or as a conflict, or nothing is to be done.
func (p *planner) decide(c history.TreeChange) (proceed bool, err error) {
	if p.way != nil && p.atBase.Unread(c.Path) {
		return false, nil
	}
	if p.way == nil || p.way.Policy == Overwrite {
		return true, nil
	}
	ours, err := p.onDisk(c.Path, c.Old)
	if err != nil {
		p.addConflict(c.Path, reasonUnreadable)
		return false, nil
	}
	base, err := p.store.EndOf(p.way.Base, c.Path)
	if err != nil {
		return false, err
	}
	theirs := history.EndWith(p.target, c.Path, c.New)
	if ours.Entry == nil && theirs.Entry == nil { // a directory or a special file stands there
		if base.Entry != nil {
			p.replacedSince(c.Path)
		}
		return base.Entry == nil, nil
	}
	end, reason, err := Merge3(base, ours, theirs, p.way.Policy, p.contentMerge(c))
	switch {
	case err != nil:
		return false, err
	case reason != "":
		p.leaveToLater(c.Path, reason)
	case end.Same(ours): // nothing is to be done
	case end.Same(theirs):
		return true, nil
	default:
		p.planMerged(c.Path, ours, end)
	}
	return false, nil
}

// replacedSince lists a file of Base in whose place a directory or a special file stands.
func (p *planner) replacedSince(path string) {
	if p.way.Policy == Merge {
		p.addConflict(path, ReasonGoneSince)
		return
	}
	p.leaveToLater(path, ReasonChangedSince)
}

// contentMerge returns the merge of contents for a path. The store lacks the contents of an
// uncaptured file, so that such a file is a conflict.
func (p *planner) contentMerge(c history.TreeChange) ContentMerge {
	if c.Old != nil {
		return p.merger.Contents
	}
	return func(_, _, _ *object.Entry) (object.ID, string, error) { return object.ID{}, ReasonNotCapturedNow, nil }
}

// planMerged plans the change of a captured file to the result of a merge.
func (p *planner) planMerged(path string, ours, end history.PathEnd) {
	action := apply.Modify
	if end.Entry.ID == ours.Entry.ID {
		action = apply.Chmod
	}
	p.Mixed = append(p.Mixed, path)
	p.Changes = append(p.Changes, apply.Change{
		Path: path, Action: action, Mode: end.Entry.Mode, Perm: end.Perm, ID: end.Entry.ID, Was: expect(p.captured.Index.Lookup(path)),
	})
}

// refuse returns the error of the policy Fail. It names the conflicts.
func (p *Plan) refuse() error {
	var names []string
	for _, c := range p.Conflicts {
		names = append(names, string(c.Path))
	}
	return fmt.Errorf("%w: changed since, so nothing was done: %s", state.ErrConflict, strings.Join(names, ", "))
}
