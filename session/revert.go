package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Revert takes back the changes of the session from a target on, including those of the sub-agents
// that were called there. The messages stay, so that Unrevert can bring everything back.
// Session.Revert names the boundary. Reverting again moves the boundary in either direction.
//
// The state before the first revert is kept. The files at a boundary are computed from that state
// and the steps after the boundary, and only files that such a step changed are touched. Changes of
// others in them are merged, or kept and listed as a conflict. A revert to the present boundary
// does nothing. Nor does one that would change nothing because all of the work that goes is in
// conflict or kept: the boundary stays, and MoveOptions.OnConflict is the way to insist.
func (s *Sessions) Revert(ctx context.Context, id string, to Target, opt MoveOptions) (*Session, *cairn.Result, error) {
	return s.move(ctx, id, opt, func(h *history, _ []*boundary) (*Target, error) { return &to, nil })
}

// Unrevert brings the reverted files back exactly, with deletions, permission bits and empty
// directories. It touches only files that the reverts touched. Later changes in them are merged, or
// kept and listed as a conflict. Without a revert it does nothing. Nor does one that would change
// nothing because all of the work that comes back is in conflict or kept: the revert stays in effect.
func (s *Sessions) Unrevert(ctx context.Context, id string, opt MoveOptions) (*Session, *cairn.Result, error) {
	return s.move(ctx, id, opt, func(*history, []*boundary) (*Target, error) { return nil, nil })
}

// UndoTurn reverts the newest turn that is not reverted yet. The error wraps
// ErrNotFound if there is none.
func (s *Sessions) UndoTurn(ctx context.Context, id string, opt MoveOptions) (*Session, *cairn.Result, error) {
	return s.move(ctx, id, opt, func(h *history, active []*boundary) (*Target, error) {
		m := h.before(newest(active))
		if m == nil {
			return nil, notFound("session %q has nothing left to undo", id)
		}
		return &Target{Message: m.ID}, nil
	})
}

// RedoTurn brings the first reverted turn back. The error wraps ErrNotFound if
// nothing is reverted.
func (s *Sessions) RedoTurn(ctx context.Context, id string, opt MoveOptions) (*Session, *cairn.Result, error) {
	return s.move(ctx, id, opt, func(h *history, active []*boundary) (*Target, error) {
		if len(active) == 0 {
			return nil, notFound("session %q has nothing to redo", id)
		}
		if m := h.after(newest(active)); m != nil {
			return &Target{Message: m.ID}, nil
		}
		return nil, nil
	})
}

func newest(active []*boundary) *boundary {
	if len(active) == 0 {
		return nil
	}
	return active[len(active)-1]
}

// choose picks the target of a move; nil means that nothing is to be reverted.
type choose func(h *history, active []*boundary) (*Target, error)

// moved is the outcome of moving the boundary.
type moved struct {
	result *cairn.Result
	events []*boundary // reverts in effect
	before []*boundary // the same before the move
	h      *history
	stays  bool // the boundary is at the target already
	held   bool // the boundary stays, because all of the work that goes or comes back is in conflict or kept
}

func (s *Sessions) move(ctx context.Context, id string, opt MoveOptions, pick choose) (*Session, *cairn.Result, error) {
	others := s.others(ctx, id)
	if len(others) > 0 && !opt.ThisRoot {
		return s.moveInAll(ctx, id, opt, pick, others)
	}
	var m *moved
	err := s.updateFamily(ctx, func(u *operation.LineUpdate) (err error) {
		m, err = s.moveBoundary(ctx, u, id, opt, pick)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	out, err := s.outcome(ctx, m)
	return out, m.result, err
}

func (s *Sessions) moveBoundary(ctx context.Context, u *operation.LineUpdate, id string, opt MoveOptions, pick choose) (*moved, error) {
	f, err := s.family(ctx, id)
	if err != nil {
		return nil, err
	}
	active, err := s.active(ctx, f.head)
	if err != nil {
		return nil, err
	}
	to, err := pick(f.head, active)
	if err != nil {
		return nil, err
	}
	if opt.EndOpen && !opt.DryRun && len(f.open()) > 0 {
		if held, err := s.wouldMove(ctx, u, id, active, to, opt); err != nil || held != nil {
			return held, err
		}
	}
	if err := s.endOpen(ctx, u, f, opt); err != nil {
		return nil, err
	}
	return s.moveTo(ctx, u, f, active, to, opt)
}

// moveTo moves the boundary to a target; nil means behind all messages.
func (s *Sessions) moveTo(
	ctx context.Context, u *operation.LineUpdate, f *family, active []*boundary, to *Target,
	opt MoveOptions,
) (*moved, error) {
	if to == nil {
		return s.clear(ctx, u, f, active, opt)
	}
	return s.setBoundary(ctx, u, f, active, *to, opt)
}

// wouldMove returns why a move would be refused, or the outcome of one that would be held. Such a move ends
// no step.
func (s *Sessions) wouldMove(
	ctx context.Context, u *operation.LineUpdate, id string, active []*boundary, to *Target,
	opt MoveOptions,
) (held *moved, err error) {
	f, err := s.family(ctx, id) // the dry run changes f, which is of no use afterwards
	if err != nil {
		return nil, err
	}
	opt.DryRun = true
	m, err := s.moveTo(ctx, u, f, active, to, opt)
	if err != nil || !m.held {
		return nil, err
	}
	m.result.DryRun = false
	return m, nil
}

// endOpen ends running steps or refuses to go on beside them. In a dry run they
// count as lasting until now.
func (s *Sessions) endOpen(ctx context.Context, u *operation.LineUpdate, f *family, opt MoveOptions) error {
	for _, h := range f.dead() {
		if err := s.endAgent(ctx, u, f, h, opt); err != nil {
			return err
		}
	}
	for _, h := range f.open() {
		st := h.openStep()
		if !opt.EndOpen {
			return h.busy(st)
		}
		if opt.DryRun {
			continue
		}
		if err := s.end(ctx, u, h, st, StepEnd{forced: true}, nil); err != nil {
			return err
		}
		a := operation.LineAppend{
			Message: fmt.Sprintf("step %s: %s", name(st.ID), wording.Count(st.changed, "file")),
			Author:  AuthorAgent, Capture: true, Paths: st.Paths,
		}
		if err := s.append(ctx, u, h, a); err != nil {
			return err
		}
		if err := s.reload(ctx, f, h.ID); err != nil {
			return err
		}
	}
	return nil
}

// busy is the error for a caller that would have to wait for an open step.
func (h *history) busy(st *step) error {
	return fmt.Errorf("%w: step %q of session %q%s is open since %s%s", ErrBusy, st.ID, h.ID, h.inBrackets(), st.Began.Format("15:04:05"), h.busyText(st))
}

// reload reads one of a family again.
func (s *Sessions) reload(ctx context.Context, f *family, id string) error {
	again, err := s.load(ctx, id)
	if err != nil {
		return err
	}
	f.members[id] = again
	if f.head.ID == id {
		f.head = again
	}
	return nil
}

// endAgent records the end of a step whose owner is gone: what follows is an event of
// the session, after which a lease would count from then on.
func (s *Sessions) endAgent(ctx context.Context, u *operation.LineUpdate, f *family, h *history, opt MoveOptions) error {
	if opt.DryRun {
		return nil
	}
	st := h.dead
	if err := s.endDead(ctx, h); err != nil {
		return err
	}
	if err := s.append(ctx, u, h, operation.LineAppend{Message: "the agent of step " + name(st.ID) + " is gone"}); err != nil {
		return err
	}
	return s.reload(ctx, f, h.ID)
}

func (s *Sessions) setBoundary(
	ctx context.Context, u *operation.LineUpdate, f *family, active []*boundary, to Target,
	opt MoveOptions,
) (*moved, error) {
	t, err := f.head.find(to)
	if err != nil {
		return nil, err
	}
	t.Undone = f.withChildren(t.own, t.goes)
	windows := f.windows(t.Undone)
	if err := s.addOthers(ctx, f, windows); err != nil {
		return nil, err
	}
	last := newest(active)
	t.Overwritten = t.overwritten(last, opt.OnConflict)
	markOverwritten(windows, t.Overwritten)
	same := last != nil && last.Message == t.Message && last.Part == t.Part && last.Start == t.Start && slices.Equal(last.Undone, t.Undone)
	m, err := s.takeBack(ctx, u, f.head, active, t.event, operation.TakeBack{
		Kind: "revert", Message: "revert to " + name(t.where()), Steps: undoneSteps(windows), Quiet: same,
		New:        undoneSteps(f.windows(t.notBehind(last))),
		Back:       undoneSteps(f.windows(f.comingBack(last, t.Undone))),
		OnConflict: opt.OnConflict, DryRun: opt.DryRun, Plan: opt.Plan, Git: opt.Git, Outside: opt.Outside,
	})
	if err != nil {
		return m, err
	}
	if err := f.notTakenBack(u, m.result, t.Undone, last, m.held); err != nil {
		return m, err
	}
	f.addNotes(m.result, t.Undone, last)
	return m, nil
}

// overwritten lists the undone steps whose paths have lost, or are to lose, later changes to the policy Overwrite.
func (e *event) overwritten(last *boundary, policy cairn.Policy) []stepRef {
	switch {
	case policy == cairn.Overwrite:
		return e.Undone
	case last == nil:
		return nil
	}
	return slices.DeleteFunc(slices.Clone(last.Overwritten), func(ref stepRef) bool { return !slices.Contains(e.Undone, ref) })
}

// markOverwritten marks the windows of steps. Steps of one window were taken back together.
func markOverwritten(windows []*window, refs []stepRef) {
	for _, w := range windows {
		w.Overwritten = slices.ContainsFunc(refs, func(ref stepRef) bool { return w.steps[ref] })
	}
}

// notBehind lists the undone steps that a boundary has not taken back yet.
func (e *event) notBehind(b *boundary) []stepRef {
	if b == nil {
		return e.Undone
	}
	return slices.DeleteFunc(slices.Clone(e.Undone), func(ref stepRef) bool { return slices.Contains(b.Undone, ref) })
}

// comingBack lists the steps that a boundary has taken back and another one has not. Sessions that are gone have
// none.
func (f *family) comingBack(b *boundary, undone []stepRef) []stepRef {
	if b == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(b.Undone), func(ref stepRef) bool {
		return f.members[ref.Session] == nil || slices.Contains(undone, ref)
	})
}

func (e *event) where() string {
	switch {
	case e.Start:
		return "the start"
	case e.Part != "":
		return "part " + e.Part + " of message " + e.Message
	}
	return "message " + e.Message
}

// clear goes back to the state before the first revert.
func (s *Sessions) clear(ctx context.Context, u *operation.LineUpdate, f *family, active []*boundary, opt MoveOptions) (*moved, error) {
	if len(active) == 0 {
		return &moved{result: &cairn.Result{DryRun: opt.DryRun}, h: f.head, stays: true}, nil
	}
	return s.takeBack(ctx, u, f.head, active, event{Kind: kindUnrevert}, operation.TakeBack{
		Kind: "unrevert", Message: "unrevert", Back: undoneSteps(f.windows(f.comingBack(newest(active), nil))), OnConflict: opt.OnConflict, DryRun: opt.DryRun, Plan: opt.Plan, Git: opt.Git, Outside: opt.Outside,
	})
}

// takeBack moves files and boundary.
func (s *Sessions) takeBack(
	ctx context.Context, u *operation.LineUpdate, h *history, active []*boundary, ev event,
	t operation.TakeBack,
) (*moved, error) {
	for _, b := range slices.Backward(active) {
		t.Earlier = append(t.Earlier, b.line)
	}
	if len(active) > 0 {
		t.Snapshot = active[0].line.Before
	}
	stored := h.digest
	s.add(h, ev)
	var err error
	if t.Record, err = s.encode(h); err != nil {
		return nil, err
	}
	if err := h.owned(); err != nil {
		return nil, err
	}
	back, err := u.TakeBack(ctx, h.ID, t)
	if err != nil {
		return nil, expired(err, "a state that session %q needs", h.ID)
	}
	nothing := t.Quiet && back.Result.Operation == "" || back.Held
	m := &moved{result: back.Result, before: active, h: h, stays: t.Quiet, held: back.Held}
	if t.DryRun || nothing {
		h.digest = stored
	}
	switch {
	case ev.Kind == kindUnrevert:
	case nothing && !t.DryRun:
		m.events = active
	default:
		m.events = append(slices.Clip(active), &boundary{event: ev, line: back.Event})
	}
	return m, nil
}

// outcome is the session after a move, or as it would be.
func (s *Sessions) outcome(ctx context.Context, m *moved) (*Session, error) {
	if m.held {
		m.events = m.before
	}
	out := s.dated(&m.h.digest, m.h.root)
	out.Truncated = m.h.truncated
	last := newest(m.events)
	out.Messages, out.Steps = m.h.counts(last)
	all, err := s.digests(ctx)
	if err != nil {
		return nil, err
	}
	out.Children = children(all, out.ID)
	if last != nil {
		if out.Revert, err = s.revertView(ctx, m.h, m.events); err != nil {
			return nil, err
		}
	}
	return out, s.addChanges(ctx, out, m.h, m.events, all)
}
