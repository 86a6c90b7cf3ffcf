package operation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/outside"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
)

// OutsideResult lists the paths outside the root that an operation brought back, or left. They are absolute.
type OutsideResult struct {
	Restored  state.Paths        `json:"restored"`
	Deleted   state.Paths        `json:"deleted"`
	Kept      []state.PathReason `json:"kept"`
	Conflicts []state.PathReason `json:"conflicts"`
}

// Changes counts the paths that are brought back.
func (r *OutsideResult) Changes() int {
	if r == nil {
		return 0
	}
	return len(r.Restored) + len(r.Deleted)
}

// Staying counts the paths that are not brought back.
func (r *OutsideResult) Staying() int {
	if r == nil {
		return 0
	}
	return len(r.Kept) + len(r.Conflicts)
}

// Plus is a result with the paths of another one.
func (r *OutsideResult) Plus(o *OutsideResult) *OutsideResult {
	if r == nil || o == nil {
		return cmp.Or(r, o)
	}
	return &OutsideResult{
		Restored: slices.Concat(r.Restored, o.Restored), Deleted: slices.Concat(r.Deleted, o.Deleted),
		Kept: slices.Concat(r.Kept, o.Kept), Conflicts: slices.Concat(r.Conflicts, o.Conflicts),
	}
}

// complete reports whether every path is as it was to be.
func (r *OutsideResult) complete() bool { return r.Staying() == 0 }

// OutsideChange is what happened to a path outside the root.
type OutsideChange = outside.OutsideChange

// outsideBack is the part of an operation that concerns paths outside the root. Each way has the ids of
// its records; the newest way comes first.
type outsideBack struct {
	ways   [][]string
	policy plan.Policy
	plan   *outside.Plan
}

func (r *Operator) keeper() outside.Keeper { return outside.Keeper{Store: r.Store} }

// planOutside plans the way back of paths outside the root. It does nothing if they stay.
func (r *Operator) planOutside(b *outsideBack) error {
	if b == nil {
		return nil
	}
	var ways []*outside.Way
	for _, records := range b.ways {
		w, err := outside.ReadWay(r.Store, records)
		if err != nil {
			return err
		}
		ways = append(ways, w)
	}
	policy := map[plan.Policy]outside.Policy{plan.Keep: outside.Keep, plan.Overwrite: outside.Overwrite}[b.policy]
	var err error
	if b.plan, err = r.keeper().Make(ways, policy); err != nil {
		return err
	}
	if b.policy == plan.Fail && len(b.plan.Conflicts) > 0 {
		c := b.plan.Conflicts[0]
		return fmt.Errorf("%w: %s outside the root, so nothing was done: %s", state.ErrConflict, c.Reason, c.Path.Place())
	}
	return nil
}

// moves reports whether a plan changes paths outside the root.
func (b *outsideBack) moves() bool { return b != nil && !b.plan.None() }

// withOutside adds the plan of paths outside the root to the preview of an operation, and to its id.
func withOutside(res *Result, b *outsideBack) {
	if b == nil {
		return
	}
	res.Outside = outsideResult(b.plan)
	sum := sha256.Sum256([]byte(res.PlanID + " outside " + b.plan.ID()))
	res.PlanID = hex.EncodeToString(sum[:8])
}

func outsideResult(p *outside.Plan) *OutsideResult {
	if p == nil {
		return nil
	}
	res := &OutsideResult{Kept: append([]state.PathReason{}, p.Kept...), Conflicts: append([]state.PathReason{}, p.Conflicts...)}
	for _, s := range p.Steps {
		if s.Change.Action.Removes() {
			res.Deleted = append(res.Deleted, string(s.Before.Path))
		} else {
			res.Restored = append(res.Restored, string(s.Before.Path))
		}
	}
	return res
}

// journalOutside is the part of a journal that concerns paths outside the root.
type journalOutside struct {
	Steps     []journalStep      `json:"steps"`
	Kept      []state.PathReason `json:"kept,omitempty"`
	Conflicts []state.PathReason `json:"conflicts,omitempty"`
	Record    string             `json:"record,omitempty"` // holds the replaced contents
}

type journalStep struct {
	Top    state.Path    `json:"top"`
	Change journalChange `json:"change"`
	Before outside.Entry `json:"before"`
	After  outside.Entry `json:"after"`
}

// saveOutside saves what a plan replaces outside the root. It returns nil where no such path is meant.
func (r *Operator) saveOutside(b *outsideBack) (*journalOutside, error) {
	if b == nil {
		return nil, nil
	}
	j := &journalOutside{Kept: b.plan.Kept, Conflicts: b.plan.Conflicts}
	for _, s := range b.plan.Steps {
		j.Steps = append(j.Steps, journalStep{Top: state.Path(s.Top), Change: journalChangeOf(&s.Change), Before: s.Before, After: s.After})
	}
	if b.plan.None() {
		return j, nil
	}
	batch := r.NewBatch(capture.ForWayBack)
	defer batch.Discard()
	ref, err := b.plan.Save(r.DB, batch)
	if err != nil {
		return nil, err
	}
	j.Record = ref.ID.String()
	return j, state.AsNoSpace(batch.Commit(ref))
}

// steps returns the plan of a journal.
func (j *journalOutside) steps() ([]outside.Step, error) {
	steps := make([]outside.Step, len(j.Steps))
	for i := range j.Steps {
		in := &j.Steps[i]
		c, err := in.Change.change()
		if err != nil {
			return nil, err
		}
		steps[i] = outside.Step{Top: string(in.Top), Change: c, Before: in.Before, After: in.After}
	}
	return steps, nil
}

// applyOutside carries the part of a journal out that concerns paths outside the root. A path that cannot
// be changed is a conflict.
func (r *Operator) applyOutside(ctx context.Context, j *journal, resume bool) error {
	if j.Outside == nil {
		return nil
	}
	steps, err := j.Outside.steps()
	if err != nil {
		return err
	}
	p := &outside.Plan{Kept: j.Outside.Kept, Conflicts: slices.Clone(j.Outside.Conflicts)}
	for len(steps) > 0 {
		top := steps[0].Top
		here, rest := outside.ByTop(steps, top)
		steps = rest
		if err := r.applyBelow(ctx, j, top, here, resume, p); err != nil {
			return err
		}
	}
	j.outside = p
	return nil
}

// applyBelow carries steps out below the top of a file system.
func (r *Operator) applyBelow(ctx context.Context, j *journal, top string, steps []outside.Step, resume bool, into *outside.Plan) error {
	changes := make([]apply.Change, len(steps))
	for i := range steps {
		changes[i] = steps[i].Change
	}
	if resume {
		if err := apply.RemoveTemps(top, j.Token, changes); err != nil {
			r.Log.Warn("temporary files of an interrupted operation may be left outside the root", "error", err)
		}
	}
	applier := &apply.Executor{
		Root: top, Source: history.Source{DB: r.DB}, Token: j.Token, Resume: resume,
		Sync: !r.Opt.NoSync, Strict: true,
	}
	outcomes, err := applier.Run(ctx, changes, nil)
	if err != nil {
		return err
	}
	for i := range outcomes {
		if outcomes[i].Done {
			into.Steps = append(into.Steps, steps[i])
		} else {
			into.Conflicts = append(into.Conflicts, state.PathReason{Path: steps[i].Before.Path, Reason: cause(outcomes[i].Err).Error()})
		}
	}
	return nil
}

// addOutside adds the record of what an operation has changed outside the root to a batch.
func (r *Operator) addOutside(batch *odb.Batch, j *journal) ([]odb.RefUpdate, error) {
	if j.outside.None() {
		return nil, nil
	}
	ref, err := outside.Add(r.DB, batch, outside.RecordOf(j.outside.Steps))
	if err != nil {
		return nil, err
	}
	j.outsideRecord = ref.ID.String()
	return []odb.RefUpdate{ref}, nil
}

// dropOutside removes the ref of what a journal has saved, unless the operation names it.
func (r *Operator) dropOutside(j *journal) error {
	if j.Outside == nil || j.Outside.Record == "" || j.Outside.Record == j.outsideRecord {
		return nil
	}
	return r.DB.DropRef(history.RefOutside + j.Outside.Record)
}

// SaveOutside saves the present state of those paths that lie outside the root, before a tool changes
// them. earlier are the records of the same step: a path in them is not saved again. It returns the id of
// the record, "" for none.
func (u *LineUpdate) SaveOutside(paths, earlier []string) (string, error) {
	away := u.outsideOf(paths)
	if len(away) == 0 || u.repo.keeper().Off() {
		return "", nil
	}
	w, err := outside.ReadWay(u.repo.Store, earlier)
	if err != nil {
		return "", err
	}
	known := make(map[string]bool)
	for _, e := range w.Before() {
		known[string(e.Path)] = true
	}
	batch := u.repo.NewBatch(u.purpose)
	defer batch.Discard()
	list, err := u.repo.keeper().Save(batch, away, known)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return u.addRecord(batch, outside.Record{Before: list})
}

// EndOutside records how the paths are that the records of a step have saved. It returns the id of the
// record, "" for none.
func (u *LineUpdate) EndOutside(records []string) (string, error) {
	if len(records) == 0 {
		return "", nil
	}
	w, err := outside.ReadWay(u.repo.Store, records)
	if err != nil {
		return "", err
	}
	list := u.repo.keeper().After(w.Before())
	if len(list) == 0 {
		return "", nil
	}
	batch := u.repo.NewBatch(capture.ForRecord)
	defer batch.Discard()
	return u.addRecord(batch, outside.Record{After: list})
}

func (u *LineUpdate) addRecord(batch *odb.Batch, rec outside.Record) (string, error) {
	ref, err := outside.Add(u.repo.DB, batch, rec)
	if err != nil {
		return "", err
	}
	return ref.ID.String(), state.AsNoSpace(batch.Commit(ref))
}

// outsideOf lists the paths that lead outside the root, as records have them.
func (u *LineUpdate) outsideOf(paths []string) (away []string) {
	for _, path := range paths {
		if place := outside.Place(outside.Absolute(u.repo.Root, path)); place != "" && u.Outside(place) {
			away = append(away, place)
		}
	}
	return away
}

// OutsideChanges lists what happened to the paths outside the root that the records of a step name.
func (l Lines) OutsideChanges(records []string) ([]OutsideChange, error) {
	w, err := outside.ReadWay(l.operator.Store, records)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(w.Changes(), func(c OutsideChange) bool { return c.Change == "" }), nil
}

// OutsideNamed says of each path outside the root that the records of a step name what happened to it. The
// Change of a path that is as before is "".
func (u *LineUpdate) OutsideNamed(records []string) (map[string]OutsideChange, error) {
	w, err := outside.ReadWay(u.repo.Store, records)
	if err != nil {
		return nil, err
	}
	named := make(map[string]OutsideChange)
	for _, c := range w.Changes() {
		named[string(c.Path)] = c
	}
	return named, nil
}

// OutsidePlace returns an absolute path as OutsideChanges names it.
func OutsidePlace(path string) string { return outside.Place(path) }
