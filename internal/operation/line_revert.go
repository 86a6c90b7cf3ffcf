package operation

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// TakeBack describes a revert that belongs to a line.
type TakeBack struct {
	Kind    string // of the operation: "revert" or "unrevert"
	Record  json.RawMessage
	Message string

	// Steps are taken out of Snapshot, a checkpoint; of the present state if it is
	// empty. Oldest first; none brings back Snapshot.
	Steps    []UndoneStep
	Snapshot string

	// Earlier are the reverts since Snapshot that are in effect, newest first. Only
	// paths that they or Steps concern are touched, and only their changes are taken
	// back; OnConflict decides about later changes.
	Earlier []*history.LineEvent

	OnConflict plan.Policy // "" = Merge
	DryRun     bool
	Plan       string // as in RevertOptions
	Quiet      bool   // append nothing where nothing is to be done
	Git        bool   // what the steps have moved in the user's git repository goes back, too

	Outside bool // paths outside the root that the steps have changed go back, too
}

// TakeBack reverts and appends the outcome to a line, both or neither, whatever
// becomes of the process. If nothing is appended, the event has the wanted state.
func (u *LineUpdate) TakeBack(ctx context.Context, id string, t TakeBack) (*Result, *history.LineEvent, error) {
	if err := checkPolicy(t.OnConflict); err != nil {
		return nil, nil, err
	}
	if err := u.repo.Enabled(); err != nil && !t.DryRun {
		return nil, nil, err
	}
	disk, err := u.capture(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := u.publishFor(ctx); err != nil {
		return nil, nil, err
	}
	defer disk.SaveUnlessSaved(ctx, u.lock)
	b, wanted, err := u.wanted(ctx, &t)
	if err != nil {
		return nil, nil, err
	}
	p, line, err := u.planTakeBack(ctx, id, &t, b, wanted)
	if err != nil {
		return nil, nil, err
	}
	req := opRequest{kind: t.Kind, target: t.target(), dryRun: t.DryRun, planID: t.Plan, line: line, joint: u.joint}
	if t.Git {
		req.git = &gitBack{Ways: gitWaysOf(t.Earlier, t.Steps)}
	}
	req.outside = t.outsideBack()
	res, err := u.repo.operateOn(ctx, u.lock, req, disk, p)
	if err != nil {
		return nil, nil, err
	}
	if t.DryRun || t.Quiet && res.Operation == "" {
		event, err := u.previewEvent(&t, b, wanted)
		return res, event, err
	}
	if res.Operation == "" {
		if err := u.appendReverted(line, disk.State(), res); err != nil {
			return res, nil, err
		}
	}
	u.discardCapture() // it is not the disk any more
	u.disk, u.published = nil, false
	event, err := u.repo.LineTip(id)
	return res, event, err
}

// outsideBack is the part of the revert that concerns paths outside the root: reverts in effect come off
// first.
func (t *TakeBack) outsideBack() *outsideBack {
	if !t.Outside {
		return nil
	}
	b := &outsideBack{policy: t.OnConflict}
	for _, e := range t.Earlier {
		b.ways = append(b.ways, e.Outside)
	}
	b.ways = append(b.ways, outsideWaysOf(t.Steps)...)
	return b
}

// outsideWaysOf lists the records of steps, the newest step first.
func outsideWaysOf(steps []UndoneStep) (ways [][]string) {
	for i := range steps {
		ways = append(ways, steps[len(steps)-1-i].Outside...)
	}
	return ways
}

// previewEvent returns the event of a revert that appends nothing.
func (u *LineUpdate) previewEvent(t *TakeBack, b *stepsBack, wanted *history.Checkpoint) (*history.LineEvent, error) {
	e := &history.LineEvent{Checkpoint: wanted, Before: t.Snapshot}
	for path := range b.want {
		e.Paths = append(e.Paths, path)
	}
	if e.Before != "" {
		return e, nil
	}
	batch := u.repo.DB.NewBatch()
	defer batch.Discard()
	before, err := u.store(batch, b.start, "before "+t.Kind)
	if err != nil {
		return nil, err
	}
	e.Before = before.ID
	return e, nil
}

// target names the checkpoint that an operation goes back to.
func (t *TakeBack) target() string {
	if len(t.Steps) > 0 {
		return t.Steps[0].From
	}
	return t.Snapshot
}

// wanted computes the state without the steps and stores it.
func (u *LineUpdate) wanted(ctx context.Context, t *TakeBack) (*stepsBack, *history.Checkpoint, error) {
	start, err := u.stateOf(ctx, t.Snapshot)
	if err != nil {
		return nil, nil, err
	}
	policy := t.OnConflict
	if policy == "" {
		policy = plan.Merge
	}
	b := u.newStepsBack(start, policy)
	if err := b.takeOut(ctx, t.Steps); err != nil {
		return nil, nil, err
	}
	batch := u.repo.DB.NewBatch()
	defer batch.Discard()
	s, err := b.state(ctx, batch)
	if err != nil {
		return nil, nil, err
	}
	c, err := u.store(batch, s, "wanted by "+t.Kind)
	return b, c, err
}

func (u *LineUpdate) store(batch *odb.Batch, s state.State, message string) (*history.Checkpoint, error) {
	meta, err := s.Meta.Encode()
	if err != nil {
		return nil, err
	}
	id, err := history.AddCommit(batch, history.CommitRequest{Tree: s.Tree, Meta: meta, Message: message, When: u.repo.Now()})
	if err != nil {
		return nil, err
	}
	if err := batch.Commit(); err != nil {
		return nil, err
	}
	return u.repo.ReadCheckpoint(id)
}

// planTakeBack plans the difference between the state wanted by earlier reverts and the state
// wanted now.
func (u *LineUpdate) planTakeBack(ctx context.Context, id string, t *TakeBack, b *stepsBack, wanted *history.Checkpoint) (*plan.Plan, *journalLine, error) {
	to, err := history.StateOf(wanted)
	if err != nil {
		return nil, nil, err
	}
	base, err := u.base(ctx, t, b.start)
	if err != nil {
		return nil, nil, err
	}
	p, scope, err := u.planSteps(ctx, b, to, base, t.Earlier)
	if err != nil {
		return nil, nil, err
	}
	line := &journalLine{Ref: history.LineRef(id), Record: t.Record, Message: t.Message, Wanted: wanted.ID, Paths: slices.Concat(scope.Named(), p.Losses)}
	line.Settled = b.settled(p)
	return p, line, nil
}

// planSteps plans the difference between a state with the steps and the same without them, and
// returns the paths that it concerns.
func (u *LineUpdate) planSteps(ctx context.Context, b *stepsBack, to, base state.State, earlier []*history.LineEvent) (*plan.Plan, *state.PathScope, error) {
	within := b.concernedScope(earlier)
	step, err := u.repo.Changes(ctx, to, base, within)
	if err != nil {
		return nil, nil, err
	}
	way := &plan.ThreeWay{Base: base, Policy: b.policy, Made: b.made}
	for _, e := range earlier {
		for _, path := range e.Created {
			way.Made[path] = true
		}
	}
	scope, err := plan.ChangedBetween(u.repo.Store, to, base, within, step)
	if err != nil {
		return nil, nil, err
	}
	p, err := plan.Make(ctx, u.repo.Store, u.repo.live(u.disk), u.disk.DiskState(), to, plan.Options{Scope: scope, Way: way, Step: step, LeftOut: b.leftOut, Kept: b.kept, Conflicts: b.conflicts})
	if err == nil {
		p.Mixed = append(p.Mixed, b.mixed(p)...)
	}
	return p, scope, err
}

// mixed lists the changes of a plan to what a step was taken out of by a merge.
func (b *stepsBack) mixed(p *plan.Plan) (paths []string) {
	for i := range p.Changes {
		if end, ok := b.want[p.Changes[i].Path]; ok && end.Entry != nil && b.merger.Merged[end.Entry.ID] != nil {
			paths = append(paths, p.Changes[i].Path)
		}
	}
	return paths
}

// settled lists the paths that stepsBack kept or refused and that the plan brings to the
// wanted state. They are reported, but they do not count as unmoved.
func (b *stepsBack) settled(p *plan.Plan) []string {
	stays := make(map[string]bool)
	for _, list := range [][]state.PathReason{p.Kept[:len(p.Kept)-len(b.kept)], p.Conflicts[:len(p.Conflicts)-len(b.conflicts)]} {
		for _, s := range list {
			stays[string(s.Path)] = true
		}
	}
	var out []string
	for _, list := range [][]state.PathReason{b.kept, b.conflicts} {
		for _, s := range list {
			if !stays[string(s.Path)] {
				out = append(out, string(s.Path))
			}
		}
	}
	return out
}

// concernedScope returns the scope of all paths that the steps or earlier reverts changed.
func (b *stepsBack) concernedScope(earlier []*history.LineEvent) *state.PathScope {
	var paths []string
	for path := range b.want {
		paths = append(paths, path)
	}
	for dir := range b.dirs {
		paths = append(paths, dir)
	}
	for _, e := range earlier {
		paths = append(paths, e.Paths...)
	}
	return state.NewPathScope(paths)
}

// base returns the state that the earlier reverts brought about, without later changes. It is
// the wanted state of the newest revert. For a path that this could not move, the wanted
// state of the revert before it counts.
func (u *LineUpdate) base(ctx context.Context, t *TakeBack, start state.State) (state.State, error) {
	if len(t.Earlier) == 0 {
		return start, nil
	}
	states := make([]state.State, 0, len(t.Earlier)+1)
	for _, e := range t.Earlier {
		s, err := u.stateOf(ctx, history.Wanted(e))
		if err != nil {
			return state.State{}, err
		}
		states = append(states, s)
	}
	states = append(states, start)
	ends := make(map[string]history.PathEnd)
	unmoved := make([]*state.PathScope, len(t.Earlier))
	for i, e := range t.Earlier {
		unmoved[i] = state.NewPathScope(e.Unmoved)
	}
	dirs := u.repo.LookupDirs(states[0])
	for _, path := range t.Earlier[0].Unmoved {
		i := 1
		for i < len(t.Earlier) && unmoved[i].Covers(path) {
			i++
		}
		if dir, err := dirs.At(path); err != nil || dir.There {
			if err != nil {
				return state.State{}, err
			}
			continue
		}
		end, err := u.repo.EndOf(states[i], path)
		if err != nil {
			return state.State{}, err
		}
		ends[path] = end
	}
	batch := u.repo.DB.NewBatch()
	defer batch.Discard()
	s, err := WithEnds(u.repo.Store, batch, states[0], ends)
	if err != nil {
		return state.State{}, err
	}
	return s, batch.Commit()
}

// addReverted writes the checkpoint after a revert. If the disk differs from the wanted state,
// that state becomes a second parent.
func (r *Operator) addReverted(batch *odb.Batch, s state.State, before *history.Checkpoint, line *journalLine, created []string, res *Result) (object.ID, error) {
	rec := &history.LineRecord{Record: line.Record, Before: before.ID, Paths: line.Paths, Unmoved: line.unmoved(res), Created: created}
	if line.outside != "" {
		rec.Outside = []string{line.outside}
	}
	parents := []object.ID{history.IDOf(before)}
	id, err := object.ParseID(line.Wanted)
	if err != nil {
		return id, err
	}
	wanted, err := r.ReadCheckpoint(id)
	if err != nil {
		return id, err
	}
	w, err := history.StateOf(wanted)
	if err != nil {
		return id, err
	}
	if !s.Equals(w) {
		rec.Wanted = line.Wanted
		parents = append(parents, history.IDOf(wanted))
	}
	return r.addLineCommit(batch, s, parents, history.StateLabel{Message: line.Message, Author: history.Identity.Name}, rec)
}

// unmoved lists the paths that later changes keep from the wanted state.
func (l *journalLine) unmoved(res *Result) []string {
	moved := make(map[string]bool)
	for _, path := range l.Settled {
		moved[path] = true
	}
	for _, list := range [][]string{res.Restored, res.Deleted} {
		for _, path := range list {
			moved[path] = true
		}
	}
	scope := state.NewPathScope(l.Paths)
	var out []string
	for _, list := range [][]state.PathReason{res.Kept, res.Conflicts} {
		for _, s := range list {
			if scope.Covers(string(s.Path)) && !moved[string(s.Path)] {
				out = append(out, string(s.Path))
			}
		}
	}
	return out
}

// appendReverted appends a revert that had nothing to do on disk.
func (u *LineUpdate) appendReverted(line *journalLine, s state.State, res *Result) error {
	batch := u.repo.DB.NewBatch()
	defer batch.Discard()
	before, err := u.repo.AddState(batch, s, u.repo.Tip(line.Ref), history.StateLabel{})
	if err != nil {
		return err
	}
	if err := batch.Commit(); err != nil {
		return err
	}
	c, err := u.repo.ReadCheckpoint(before)
	if err != nil {
		return err
	}
	batch = u.repo.DB.NewBatch()
	defer batch.Discard()
	after, err := u.repo.addReverted(batch, s, c, line, nil, res)
	if err != nil {
		return err
	}
	return batch.Commit(odb.RefUpdate{Name: line.Ref, ID: after})
}
