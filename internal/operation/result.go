package operation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/gitrestore"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/outside"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// PlannedChange is one line of a plan. The tags doc and enum describe a field to users of the
// HTTP API as well.
type PlannedChange struct {
	Path   state.Path `json:"path"`
	Action string     `json:"action" enum:"create,modify,chmod,delete,mkdir,rmdir"`
	Bytes  int64      `json:"bytes" doc:"Written for create and modify, removed for delete."`

	onDisk *history.Change
}

// OnDisk returns what happens to the file on disk, for Repo.FileDiffs. It returns nil for a
// directory, for a file whose present contents the store does not hold, and for a plan from JSON.
func (c *PlannedChange) OnDisk() *history.Change { return c.onDisk }

// Result says what a restore or revert did, path by path. Nothing that it lists as
// restored or deleted is lost: the operation keeps the state before.
type Result struct {
	Operation string             `json:"operation" doc:"Id, empty when there was nothing to do and for a plan."`
	Restored  state.Paths        `json:"restored"`
	Deleted   state.Paths        `json:"deleted"`
	Kept      []state.PathReason `json:"kept" doc:"Present, but left alone for safety."`
	Conflicts []state.PathReason `json:"conflicts" doc:"Not brought to the wanted state."`

	NotTakenBack []state.PathReason `json:"notTakenBack,omitempty" doc:"Changes of a session that no checkpoint holds: outside the root (absolute paths), or ignored. They stay."`

	Notes []string `json:"notes,omitempty" doc:"What else is to be known of this way back, one fact a line: merged paths, changes that no tool named, steps that could not be captured."`

	Elsewhere []RootResult `json:"inRoots,omitempty" doc:"The same in the other directories of the session, where there was something to do."`

	Base string `json:"base,omitempty" doc:"Of a merge: the checkpoint that both sides have in common."`

	Git *GitResult `json:"git,omitempty" doc:"Changes of the git repository, where it was to go back, too."`

	Outside *OutsideResult `json:"outside,omitempty" doc:"Paths outside the root, where they were to go back, too. They are in no other list."`

	Plan   []PlannedChange `json:"plan,omitzero"`
	PlanID string          `json:"planID,omitempty" doc:"Equal plans have equal ids."` // see RestoreOptions.Plan
	DryRun bool            `json:"-"`
}

// Complete reports whether every path in scope is as at the target, and so is git, if it was to be.
func (r *Result) Complete() bool {
	for _, o := range r.Elsewhere {
		if len(o.Kept)+len(o.Conflicts) > 0 {
			return false
		}
	}
	return len(r.Kept) == 0 && len(r.Conflicts) == 0 && (r.Git == nil || len(r.Git.Conflicts) == 0) && r.Outside.complete()
}

// Overwritable reports whether the policy Overwrite would take one of the paths back that stay, because it was
// changed since. It would not where the system refuses a change.
func (r *Result) Overwritable() bool {
	stays := slices.Concat(r.Kept, r.Conflicts)
	for _, o := range r.Elsewhere {
		stays = append(stays, slices.Concat(o.Kept, o.Conflicts)...)
	}
	if o := r.Outside; o != nil && slices.ContainsFunc(slices.Concat(o.Kept, o.Conflicts), func(p state.PathReason) bool {
		return outside.Overwritable(p.Reason)
	}) {
		return true
	}
	return slices.ContainsFunc(stays, func(p state.PathReason) bool { return plan.Overwritable(p.Reason) })
}

// MarshalJSON implements json.Marshaler. Only a dry run has "plan" and "planID".
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	r.Kept, r.Conflicts = append([]state.PathReason{}, r.Kept...), append([]state.PathReason{}, r.Conflicts...)
	if r.DryRun {
		r.Plan = append([]PlannedChange{}, r.Plan...)
	} else {
		r.Plan, r.PlanID = nil, ""
	}
	return json.Marshal(plain(r))
}

// UnmarshalJSON implements json.Unmarshaler. A result with a plan is one of a dry run.
func (r *Result) UnmarshalJSON(data []byte) error {
	type plain Result
	*r = Result{}
	err := json.Unmarshal(data, (*plain)(r))
	r.DryRun = r.Plan != nil
	return err
}

// preview is the result of carrying out nothing. It refuses a plan that is not the
// one asked for.
func (r *Operator) preview(req opRequest, p *plan.Plan, back *gitrestore.Plan) (*Result, error) {
	res := &Result{Kept: p.Kept, Conflicts: p.Conflicts, DryRun: req.dryRun, PlanID: p.ID(req.kind, req.target, req.undoes)}
	withGit(res, back)
	withOutside(res, req.outside)
	if req.planID != "" && req.planID != res.PlanID {
		return nil, fmt.Errorf("%w: the plan would now be %s, not %s", state.ErrMoved, res.PlanID, req.planID)
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		if plan.IsGuard(c) {
			continue
		}
		size, err := r.plannedBytes(p, c)
		if err != nil {
			return nil, err
		}
		res.Plan = append(res.Plan, PlannedChange{state.Path(c.Path), c.Action.String(), size, changeOnDisk(c)})
		res.add(c.Path, c.Action)
	}
	res.tidy()
	if len(p.Mixed) > 0 {
		slices.Sort(p.Mixed)
		line := wording.MergedLine
		if req.kind == kindMerge {
			line = wording.MergedHereLine
		}
		res.Notes = append(res.Notes, line(slices.Compact(p.Mixed), pathtext.Quote))
	}
	if req.dryRun {
		return res, r.storeMerged(p)
	}
	return res, nil
}

func (r *Operator) plannedBytes(p *plan.Plan, c *apply.Change) (int64, error) {
	switch c.Action {
	case apply.Create, apply.Modify:
		if content, ok := p.Merged[c.ID]; ok {
			return int64(len(content)), nil
		}
		_, size, err := r.DB.Stat(c.ID)
		return size, err
	case apply.Delete:
		if c.Was.ID.IsZero() {
			return c.Was.Stat.Size, nil
		}
		_, size, err := r.DB.Stat(c.Was.ID)
		return size, err
	}
	return 0, nil
}

// tidy sorts the lists. A path that was removed to make room for something else of
// the same name counts as restored.
func (r *Result) tidy() {
	slices.Sort(r.Restored)
	r.Restored = slices.Compact(r.Restored)
	slices.Sort(r.Deleted)
	r.Deleted = slices.DeleteFunc(slices.Compact(r.Deleted), func(path string) bool {
		_, restored := slices.BinarySearch(r.Restored, path)
		return restored
	})
	byPath := func(a, b state.PathReason) int { return cmp.Compare(a.Path, b.Path) }
	slices.SortStableFunc(r.Kept, byPath)
	slices.SortStableFunc(r.Conflicts, byPath)
	slices.SortStableFunc(r.Plan, func(a, b PlannedChange) int { return cmp.Compare(a.Path, b.Path) })
}

func (r *Result) add(path string, action apply.Action) {
	if action.Removes() {
		r.Deleted = append(r.Deleted, path)
	} else {
		r.Restored = append(r.Restored, path)
	}
}
