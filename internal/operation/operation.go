package operation

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/gitrestore"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/apply"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// opRequest describes an operation before it has a plan.
type opRequest struct {
	kind   string // as Operation.Kind
	target string // checkpoint id
	dryRun bool
	planID string   // of the only plan to be carried out; "" = whatever is planned
	undoes string   // operation that this one takes back
	scope  []string // paths that this was narrowed down to
	line   *journalLine
	git    *gitBack // nil = git stays
	joint  *Joint   // nil = it concerns this root alone

	outside *outsideBack // nil = paths outside the root stay
}

// operate carries out an operation. Dying at any point loses nothing:
//
//  1. capture the disk and make the plan
//  2. save the uncaptured files that the plan changes, publish the state before:
//     from here on it can be restored
//  3. give the journal its name: from here on the next command finishes the operation
//  4. bring git back, if that is asked for, and apply
//  5. record the operation, drop the journal
func (r *Operator) operate(ctx context.Context, req opRequest, makePlan planMaker) (res *Result, err error) {
	if err := r.Enabled(); err != nil && !req.dryRun {
		return nil, err
	}
	err = r.Capturing(ctx, func(l *history.Locked) error {
		res, err = r.operateLocked(ctx, l, req, makePlan)
		return err
	})
	return res, err
}

// planMaker makes a plan for the disk as it was captured.
type planMaker func(*capture.Snapshot) (*plan.Plan, error)

func (r *Operator) operateLocked(ctx context.Context, l *history.Locked, req opRequest, makePlan planMaker) (*Result, error) {
	disk, err := r.Capture(ctx, l, capture.Options{Purpose: capture.ForWayBack})
	if err != nil {
		return nil, err
	}
	defer disk.Discard()
	if err := disk.PublishFor(ctx, l); err != nil {
		return nil, err
	}
	defer disk.SaveUnlessSaved(ctx, l)
	p, err := makePlan(disk)
	if err != nil {
		return nil, err
	}
	return r.operateOn(ctx, l, req, disk, p)
}

// operateOn carries out a plan, unless it is only asked for or there is nothing to do.
func (r *Operator) operateOn(ctx context.Context, l *history.Locked, req opRequest, disk *capture.Snapshot, p *plan.Plan) (*Result, error) {
	back, err := r.planGit(ctx, disk, req.git)
	if err != nil {
		return nil, err
	}
	if err := r.planOutside(req.outside); err != nil {
		return nil, err
	}
	res, err := r.preview(req, p, back)
	moves := back != nil && !back.None()
	if err != nil || req.dryRun || !req.toBeRecorded(p) && !moves && !req.outside.moves() {
		return res, err
	}
	if moves && req.planID == "" {
		return nil, errGitNotPlanned
	}
	done, err := r.carryOut(ctx, l, req, disk, p, back)
	if done != nil {
		done.Notes = append(res.Notes, done.Notes...)
	}
	return done, err
}

// toBeRecorded reports whether a plan makes an operation. A plan without changes does so only
// if it takes an operation back and keeps every later change: that operation then counts as
// undone. A share of a joint operation is always recorded, so that an undo finds all of them.
func (q *opRequest) toBeRecorded(p *plan.Plan) bool {
	return len(p.Changes) > 0 || q.joint != nil || q.undoes != "" && len(p.Kept) > 0 && len(p.Conflicts) == 0
}

func (r *Operator) carryOut(
	ctx context.Context, l *history.Locked, req opRequest, disk *capture.Snapshot, p *plan.Plan,
	back *gitrestore.Plan,
) (*Result, error) {
	before, batch, err := r.saveBefore(ctx, l, req, disk, p)
	if err != nil {
		return nil, err
	}
	defer batch.Discard()
	published := false
	publish := func() error {
		err := batch.Commit(odb.RefUpdate{Name: history.RefBefore, ID: before})
		published = err == nil
		return state.AsNoSpace(err)
	}
	res, err := r.carryOutFrom(ctx, l, req, newJournal(r.tokenOf(ctx, &req), req, before, p), publish, disk, back)
	if err != nil && published {
		err = &capture.BegunError{Err: err}
	}
	return res, err
}

// carryOutFrom carries out what a journal says. The state before is published while the journal waits for
// the disk.
func (r *Operator) carryOutFrom(
	ctx context.Context, l *history.Locked, req opRequest, j *journal, publish func() error,
	disk *capture.Snapshot, back *gitrestore.Plan,
) (*Result, error) {
	var err error
	if j.Outside, err = r.saveOutside(req.outside); err != nil {
		return nil, err
	}
	if err := r.writeJournal(l, j, publish); err != nil {
		return nil, errors.Join(err, r.dropOutside(j))
	}
	if err := r.applyGit(ctx, j, back, false); err != nil {
		return nil, errors.Join(err, r.dropJournal(l))
	}
	if req.joint != nil {
		return r.finishJoint(ctx, l, req.joint, j, disk)
	}
	return r.finish(ctx, l, j, disk.Index)
}

// saveBefore returns the state before an operation, and a batch with it, which the caller commits: the
// capture, and the uncaptured files that the plan changes. Its parent is the newest checkpoint of the
// line that the operation belongs to, or the newest checkpoint outside of lines.
func (r *Operator) saveBefore(
	ctx context.Context, l *history.Locked, req opRequest, disk *capture.Snapshot, p *plan.Plan,
) (object.ID, *odb.Batch, error) {
	r.Holds(l)
	batch := r.NewBatch(capture.ForWayBack)
	id, err := r.addBefore(ctx, batch, req, disk, p)
	if err != nil {
		batch.Discard()
	}
	return id, batch, err
}

func (r *Operator) addBefore(
	ctx context.Context, batch *odb.Batch, req opRequest, disk *capture.Snapshot, p *plan.Plan,
) (object.ID, error) {
	for _, content := range p.Merged {
		if _, err := batch.Add(object.Blob, content); err != nil {
			return object.ID{}, err
		}
	}
	dirs := plan.DirsBeside(r.live(disk), p.Beside)
	s, err := r.withSaved(batch, disk.State(), p.Save(r.Root, batch), dirs)
	if err != nil {
		return object.ID{}, err
	}
	previous, err := r.before(ctx, req)
	if err != nil {
		return object.ID{}, err
	}
	return r.AddState(batch, s, previous, history.StateLabel{})
}

func (r *Operator) before(ctx context.Context, req opRequest) (*history.Checkpoint, error) {
	if req.line != nil {
		return r.Tip(req.line.Ref)
	}
	return r.Newest(ctx)
}

// withSaved is a state that holds files and directories which the capture left out.
func (r *Operator) withSaved(batch *odb.Batch, s state.State, saved map[string]*dir.State, dirs map[string]uint16) (state.State, error) {
	if len(dirs) > 0 {
		s.Meta = s.Meta.WithDirs(dirs, state.DirsAbove(maps.Keys(saved)))
	}
	if len(saved) == 0 {
		return s, nil
	}
	edits := make(map[string]*object.Entry, len(saved))
	captured := make(map[string]bool, len(saved))
	for path := range saved {
		captured[path] = true
	}
	meta := s.Meta.WithoutSkipped(captured)
	for path, was := range saved {
		edits[path] = &object.Entry{Mode: was.Mode, ID: was.ID}
		if was.Mode != object.Symlink {
			meta.SetPerm(path, was.Mode, was.Perm)
		}
	}
	tree, err := r.EditTree(batch, s.Tree, edits)
	return state.State{Tree: tree, Meta: meta}, err
}

// finish applies a journal and records the operation, unless nothing could be changed. x is the stat cache of the
// capture that the plan was made from; nil after a crash.
func (r *Operator) finish(ctx context.Context, l *history.Locked, j *journal, x *index.Index) (*Result, error) {
	applier := &apply.Executor{Root: r.Root, Source: history.Source{DB: r.DB}, Token: j.Token, Resume: x == nil, Sync: !r.Opt.NoSync}
	outcomes, err := applier.Run(ctx, j.changes, r.applyProgress())
	if err != nil {
		return nil, fmt.Errorf("%s interrupted, the next command finishes it: %w", j.Kind, err)
	}
	if err := r.applyOutside(ctx, j, x == nil); err != nil {
		return nil, fmt.Errorf("%s interrupted outside the root, the next command finishes it: %w", j.Kind, err)
	}
	res := j.result(outcomes)
	if j.cameToNothing(res) {
		return res, errors.Join(r.dropJournal(l), r.dropOutside(j))
	}
	id, err := r.recordOperation(ctx, l, j, res, recaptureOptions(j, outcomes, x, applier))
	if err != nil {
		return nil, fmt.Errorf("record the %s, which is done: %w", j.Kind, err)
	}
	res.Operation = id.String()
	return res, errors.Join(r.dropJournal(l), r.dropOutside(j))
}

func (r *Operator) applyProgress() func(done, total int) {
	if r.Opt.Progress == nil {
		return nil
	}
	return func(done, total int) { r.Opt.Progress(settings.Progress{Phase: "apply", Files: done, Total: total}) }
}
