package operation

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// RootResult is the part of a Result that belongs to another root. Its paths count from there.
type RootResult struct {
	Root         state.Path         `json:"root"`
	Operation    string             `json:"operation" doc:"Id, empty for a plan."`
	Restored     state.Paths        `json:"restored"`
	Deleted      state.Paths        `json:"deleted"`
	Kept         []state.PathReason `json:"kept"`
	Conflicts    []state.PathReason `json:"conflicts"`
	NotTakenBack []state.PathReason `json:"notTakenBack,omitempty"`
	Notes        []string           `json:"notes,omitempty"`
	Plan         []PlannedChange    `json:"plan,omitempty"`
}

// Result returns the part as a result of its own.
func (o *RootResult) Result() *Result {
	return &Result{
		Operation: o.Operation, Restored: o.Restored, Deleted: o.Deleted, Kept: o.Kept, Conflicts: o.Conflicts,
		NotTakenBack: o.NotTakenBack, Notes: o.Notes, Plan: o.Plan, DryRun: o.Plan != nil,
	}
}

func rootResult(root string, r *Result) RootResult {
	return RootResult{
		Root: state.Path(root), Operation: r.Operation, Restored: r.Restored, Deleted: r.Deleted,
		Kept: append([]state.PathReason{}, r.Kept...), Conflicts: append([]state.PathReason{}, r.Conflicts...),
		NotTakenBack: r.NotTakenBack, Notes: r.Notes, Plan: r.Plan,
	}
}

// withElsewhere is the result of one share, with those of the others that have something to tell.
func withElsewhere(shares []Share, results []*Result, head int, planID string) *Result {
	res := *results[head]
	res.PlanID = planID
	for i, other := range results {
		if i != head {
			res.Outside = res.Outside.Plus(other.Outside)
		}
		if i != head && !other.empty() {
			res.Elsewhere = append(res.Elsewhere, rootResult(shares[i].Root, other))
		}
	}
	return &res
}

// InAllRoots returns the result with what belongs to other roots among its own: their paths are
// absolute, with '/'. It suits a list for people. A result of one root is returned as it is.
func (r *Result) InAllRoots() *Result {
	if len(r.Elsewhere) == 0 {
		return r
	}
	sum := *r
	sum.Elsewhere = nil
	sum.Restored, sum.Deleted = slices.Clip(r.Restored), slices.Clip(r.Deleted)
	sum.Kept, sum.Conflicts = slices.Clip(r.Kept), slices.Clip(r.Conflicts)
	sum.NotTakenBack, sum.Notes, sum.Plan = slices.Clip(r.NotTakenBack), slices.Clip(r.Notes), slices.Clip(r.Plan)
	for i := range r.Elsewhere {
		o := &r.Elsewhere[i]
		sum.Restored, sum.Deleted = append(sum.Restored, o.below(o.Restored)...), append(sum.Deleted, o.below(o.Deleted)...)
		sum.Kept, sum.Conflicts = append(sum.Kept, o.reasonsBelow(o.Kept)...), append(sum.Conflicts, o.reasonsBelow(o.Conflicts)...)
		sum.NotTakenBack = append(sum.NotTakenBack, o.reasonsBelow(o.NotTakenBack)...)
		sum.Notes = append(sum.Notes, o.Notes...)
		for _, p := range o.Plan {
			p.Path, p.onDisk = o.absolute(p.Path), nil
			sum.Plan = append(sum.Plan, p)
		}
	}
	return &sum
}

// Directories counts the roots in which something is changed.
func (r *Result) Directories() (n int) {
	count := func(lists ...int) {
		for _, l := range lists {
			if l > 0 {
				n++
				return
			}
		}
	}
	count(len(r.Restored), len(r.Deleted))
	for i := range r.Elsewhere {
		count(len(r.Elsewhere[i].Restored), len(r.Elsewhere[i].Deleted))
	}
	return n
}

func (o *RootResult) absolute(p state.Path) state.Path {
	if filepath.IsAbs(string(p)) {
		return p
	}
	return state.Path(path.Join(filepath.ToSlash(string(o.Root)), string(p)))
}

func (o *RootResult) below(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = string(o.absolute(state.Path(p)))
	}
	return out
}

func (o *RootResult) reasonsBelow(list []state.PathReason) []state.PathReason {
	out := slices.Clone(list)
	for i := range out {
		out[i].Path = o.absolute(out[i].Path)
	}
	return out
}

// empty reports whether a result has nothing to tell.
func (r *Result) empty() bool {
	return len(r.Restored)+len(r.Deleted)+len(r.Kept)+len(r.Conflicts)+len(r.NotTakenBack)+len(r.Notes)+len(r.Plan) == 0
}
