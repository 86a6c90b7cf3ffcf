package operation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// PlannedChange is one line of a plan.
type PlannedChange struct {
	Path   string
	Action string // create, modify, chmod, delete, mkdir or rmdir
	Bytes  int64  // written for create and modify, removed for delete
}

type plannedJSON struct {
	Path   state.Path `json:"path"`
	Action string     `json:"action"`
	Bytes  int64      `json:"bytes"`
}

// MarshalJSON implements json.Marshaler.
func (p PlannedChange) MarshalJSON() ([]byte, error) {
	return json.Marshal(plannedJSON{state.Path(p.Path), p.Action, p.Bytes})
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *PlannedChange) UnmarshalJSON(data []byte) error {
	var j plannedJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*p = PlannedChange{string(j.Path), j.Action, j.Bytes}
	return nil
}

// Result says what a restore or revert did, path by path. Nothing that it lists as
// restored or deleted is lost: the operation keeps the state before.
type Result struct {
	Operation string // id, "" when there was nothing to do and for a dry run
	Restored  []string
	Deleted   []string
	Kept      []state.PathReason // present, but left alone for safety
	Conflicts []state.PathReason // not brought to the wanted state

	// NotTakenBack lists what steps of a session changed and no checkpoint holds: paths
	// outside the root, which are absolute, and ignored ones. Going back leaves them.
	NotTakenBack []state.PathReason

	Plan   []PlannedChange
	PlanID string // equal plans have equal ids; see RestoreOptions.Plan
	DryRun bool
}

// Complete reports whether every path in scope is as at the target.
func (r *Result) Complete() bool { return len(r.Kept) == 0 && len(r.Conflicts) == 0 }

type resultJSON struct {
	Operation string             `json:"operation"`
	Restored  []state.Path       `json:"restored"`
	Deleted   []state.Path       `json:"deleted"`
	Kept      []state.PathReason `json:"kept"`
	Conflicts []state.PathReason `json:"conflicts"`
	NotTaken  []state.PathReason `json:"notTakenBack,omitempty"`
	Plan      *[]PlannedChange   `json:"plan,omitempty"`
	PlanID    string             `json:"planID,omitempty"`
}

// MarshalJSON implements json.Marshaler. Only a dry run has "plan" and "planID".
func (r Result) MarshalJSON() ([]byte, error) {
	form := resultJSON{
		r.Operation, pathtext.Texts(r.Restored), pathtext.Texts(r.Deleted),
		append([]state.PathReason{}, r.Kept...), append([]state.PathReason{}, r.Conflicts...), r.NotTakenBack, nil, "",
	}
	if r.DryRun {
		planned := append([]PlannedChange{}, r.Plan...)
		form.Plan, form.PlanID = &planned, r.PlanID
	}
	return json.Marshal(form)
}

// UnmarshalJSON implements json.Unmarshaler. A result with a plan is one of a dry run.
func (r *Result) UnmarshalJSON(data []byte) error {
	var j resultJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*r = Result{
		Operation: j.Operation, Restored: pathtext.Plain(j.Restored), Deleted: pathtext.Plain(j.Deleted),
		Kept: j.Kept, Conflicts: j.Conflicts, NotTakenBack: j.NotTaken, PlanID: j.PlanID,
	}
	if j.Plan != nil {
		r.Plan, r.DryRun = *j.Plan, true
	}
	return nil
}

// preview is the result of carrying out nothing. It refuses a plan that is not the
// one asked for.
func (r *Operator) preview(req opRequest, p *plan.Plan) (*Result, error) {
	res := &Result{Kept: p.Kept, Conflicts: p.Conflicts, DryRun: req.dryRun, PlanID: p.ID(req.kind, req.target, req.undoes)}
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
		res.Plan = append(res.Plan, PlannedChange{c.Path, c.Action.String(), size})
		res.add(c.Path, c.Action)
	}
	res.tidy()
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
	byPath := func(a, b state.PathReason) int { return strings.Compare(a.Path, b.Path) }
	slices.SortStableFunc(r.Kept, byPath)
	slices.SortStableFunc(r.Conflicts, byPath)
	slices.SortStableFunc(r.Plan, func(a, b PlannedChange) int { return strings.Compare(a.Path, b.Path) })
}

func (r *Result) add(path string, action apply.Action) {
	if action.Removes() {
		r.Deleted = append(r.Deleted, path)
	} else {
		r.Restored = append(r.Restored, path)
	}
}
