package operation

import (
	"context"
	"encoding/json"

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

	// New are those of Steps that none of Earlier has taken out, their Others apart. Back are steps that come back:
	// one of Earlier has taken them out, and they are not among Steps. See TakenBack.Held.
	New, Back []UndoneStep
}

// TakenBack is the outcome of a TakeBack.
type TakenBack struct {
	Result *Result
	Event  *history.LineEvent // where nothing is appended it has the wanted state; nil if Held, but in a dry run

	// Held: nothing would change, because the work that was to go or to come back is in conflict or kept, or could
	// not be changed, so nothing is appended. A share of a joint operation is appended anyway.
	Held bool
}

// TakeBack reverts and appends the outcome to a line, both or neither, whatever
// becomes of the process.
func (u *LineUpdate) TakeBack(ctx context.Context, id string, t TakeBack) (*TakenBack, error) {
	if err := checkPolicy(t.OnConflict); err != nil {
		return nil, err
	}
	if err := u.repo.Enabled(); err != nil && !t.DryRun {
		return nil, err
	}
	disk, err := u.capture(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := u.publishFor(ctx); err != nil {
		return nil, err
	}
	defer disk.SaveUnlessSaved(ctx, u.lock)
	b, wanted, err := u.wanted(ctx, &t)
	if err != nil {
		return nil, err
	}
	p, line, err := u.planTakeBack(ctx, id, &t, b, wanted)
	if err != nil {
		return nil, err
	}
	req := opRequest{kind: t.Kind, target: t.target(), dryRun: t.DryRun, planID: t.Plan, line: line, joint: u.joint}
	if t.Git {
		req.git = &gitBack{Ways: gitWaysOf(t.Earlier, t.Steps)}
	}
	req.outside = t.outsideBack()
	res, err := u.repo.operateOn(ctx, u.lock, req, disk, p)
	if err != nil {
		return nil, err
	}
	back := &TakenBack{Result: res}
	if back.Held, err = u.held(ctx, id, &t, res); err != nil || back.Held && !t.DryRun {
		return back, err
	}
	if len(t.New) == 0 && len(p.Changes) > 0 && res.Operation == "" && !t.DryRun {
		back.Held = true // what was to come back could not: it can come back later
		return back, nil
	}
	if t.DryRun || t.Quiet && res.Operation == "" {
		back.Event, err = u.previewEvent(&t, b, wanted)
		return back, err
	}
	if res.Operation == "" {
		if err := u.appendReverted(line, disk.State(), res); err != nil {
			return nil, err
		}
	}
	u.discardCapture() // it is not the disk any more
	u.disk, u.published = nil, false
	back.Event, err = u.repo.LineTip(id)
	return back, err
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
	if err := b.resolveAll(ctx, t.Steps); err != nil {
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

// addReverted writes the checkpoint after a revert. If the disk differs from the wanted state,
// that state becomes a second parent.
func (r *Operator) addReverted(
	batch *odb.Batch, s state.State, before *history.Checkpoint, line *journalLine, created []string,
	res *Result,
) (object.ID, error) {
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
	tip, err := u.repo.Tip(line.Ref)
	if err != nil {
		return err
	}
	before, err := u.repo.AddState(batch, s, tip, history.StateLabel{})
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
