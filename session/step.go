package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// BeginStep captures the state before a step and records it. The session and the message are begun
// if they are new. An existing step is returned unchanged. Another open step of the session is
// ended first: its agent was killed. Changes since the last step belong to the user.
func (s *Sessions) BeginStep(ctx context.Context, b StepBegin) (*Step, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	if err := s.wait(ctx, b.Session); err != nil {
		return nil, err
	}
	begun, err := s.beginInAll(ctx, b)
	if err == nil {
		s.forgetFailed(b.Session)
	}
	return begun, err
}

// Check reports what is wrong with a description: ErrID for an id that cannot be used.
func (b *StepBegin) Check() error {
	if err := checkID("id of the session", b.Session); err != nil {
		return err
	}
	if err := checkIDs("id of the message", b.Message); err != nil {
		return err
	}
	if err := checkIDs("id of the step", b.Step); err != nil {
		return err
	}
	if err := b.Owner.check(); err != nil {
		return err
	}
	return checkMeta(b.Meta)
}

func (s *Sessions) captureBefore(ctx context.Context, b StepBegin) (*Step, error) {
	var begun *Step
	err := s.lines.Update(ctx, func(u *operation.LineUpdate) (err error) {
		begun, err = s.beginStep(ctx, u, &b)
		return err
	})
	return begun, err
}

func (s *Sessions) beginStep(ctx context.Context, u *operation.LineUpdate, b *StepBegin) (*Step, error) {
	h, err := s.goOn(ctx, b.Session)
	if err != nil {
		return nil, err
	}
	if old := h.step(b.Step); old != nil {
		return s.stepOut(ctx, h, old)
	}
	a := operation.LineAppend{Capture: true, Paths: b.Paths}
	if open := h.openStep(); open != nil {
		a.Paths, a.Author = open.with(b.Paths), AuthorAgent
		if err := s.end(ctx, u, h, open, StepEnd{}, b.Paths); err != nil {
			return nil, err
		}
	}
	if b.Owner == nil {
		b.Owner = thisProcess()
	}
	saved, err := u.SaveOutside(b.Paths, nil)
	if err != nil {
		return nil, err
	}
	messageID, stepID := h.names(b)
	if h.message(messageID) == nil {
		s.add(h, event{Kind: kindMessage, Message: messageID, Role: b.Role, Prompt: s.said(b.Prompt)})
	}
	s.add(h, event{
		Kind: kindStep, Message: messageID, Step: stepID, Meta: b.Meta, Owner: b.Owner, Paths: b.Paths,
		Absent: u.Absent(b.Paths), Outside: saved,
	})
	a.Message = "before step " + name(stepID)
	if err := s.append(ctx, u, h, a); err != nil {
		return nil, err
	}
	return s.stepNow(ctx, b.Session, stepID)
}

// names returns ids that the host did not give: the newest message, and a step of it.
func (h *history) names(b *StepBegin) (messageID, stepID string) {
	messageID, stepID = b.Message, b.Step
	if messageID == "" {
		messageID = "message-1"
		if n := len(h.messages); n > 0 {
			messageID = h.messages[n-1].ID
		}
	}
	for n := 1; stepID == ""; n++ {
		if made := fmt.Sprintf("step-%d", n+h.Steps); h.step(made) == nil {
			stepID = made
		}
	}
	return messageID, stepID
}

// EndStep captures the state after a step and records it. A step that has ended is returned
// unchanged.
func (s *Sessions) EndStep(ctx context.Context, e StepEnd) (*Step, error) {
	if err := checkID("id of the session", e.Session); err != nil {
		return nil, err
	}
	if err := checkIDs("id of the step", e.Step); err != nil {
		return nil, err
	}
	if err := checkParts(e.Parts); err != nil {
		return nil, err
	}
	others := s.others(ctx, e.Session)
	here, there := others.splitEnd(s, &e)
	var ended *Step
	err := s.update(ctx, e.Session, func(u *operation.LineUpdate) (err error) {
		ended, err = s.endStep(ctx, u, here)
		return err
	})
	if err != nil {
		return nil, s.withBeginning(e.Session, err)
	}
	others.endStep(ctx, there, ended)
	return ended, nil
}

func (s *Sessions) endStep(ctx context.Context, u *operation.LineUpdate, e *StepEnd) (*Step, error) {
	h, err := s.load(ctx, e.Session)
	if err != nil {
		return nil, err
	}
	if h.dead != nil && (h.dead.life == lapsed || e.Returned) && !e.Gone {
		h.revive() // its host is there after all, or was until now
	}
	st := cmp.Or(h.openStep(), h.dead)
	if e.Step != "" {
		st = h.step(e.Step)
	}
	switch {
	case st != nil && (st == h.dead || e.Gone && st.ended == 0):
		return s.endAbandoned(ctx, u, h, st)
	case st == nil && e.Step == "":
		return nil, notFound("no step of session %q is open", e.Session)
	case st == nil:
		return nil, notFound("step %q of session %q", e.Step, e.Session)
	case st.forced && !st.Abandoned && !h.resumed(st) && !e.Gone:
		return s.goOnForced(ctx, u, h, st, e)
	case st.ended != 0:
		return s.stepOut(ctx, h, st)
	}
	if err := s.end(ctx, u, h, st, *e, nil); err != nil {
		return nil, err
	}
	a := operation.LineAppend{
		Message: fmt.Sprintf("step %s: %s", name(st.ID), wording.Count(st.changed, "file")),
		Author:  AuthorAgent, Capture: true, Paths: st.Paths,
	}
	if err := s.append(ctx, u, h, a); err != nil {
		return nil, err
	}
	return s.stepNow(ctx, e.Session, st.ID)
}

// end adds the event of a step that ends now. The next step may have hints, too: one capture serves
// both.
func (s *Sessions) end(ctx context.Context, u *operation.LineUpdate, h *history, st *step, e StepEnd, more []string) error {
	list, err := u.Changes(ctx, st.Before.ID, append(st.with(e.Paths), more...))
	if err != nil {
		return fmt.Errorf("session: end of step %q: %w", st.ID, err)
	}
	parts, err := s.uncaptured(ctx, u, st, e.Parts)
	if err != nil {
		return fmt.Errorf("session: end of step %q: %w", st.ID, err)
	}
	left, err := u.EndOutside(st.outside)
	if err != nil {
		return fmt.Errorf("session: end of step %q: %w", st.ID, err)
	}
	end := event{Kind: kindEnd, Step: st.ID, Parts: parts, Paths: e.Paths, Forced: e.forced, Outside: left}
	end.tells(s, list)
	s.add(h, end)
	return nil
}

// with is the step's hints and some more.
func (s *step) with(paths []string) []string { return append(slices.Clone(s.Paths), paths...) }

// Hint records paths that a tool of a step names, absolute or relative to the root. They belong to
// the step's session when steps of several sessions overlap. Their present contents are captured,
// also of ignored files, so that a revert of the step can bring them back. Of paths outside all roots
// small files are saved, for MoveOptions.Outside. An empty step means the
// open one.
func (s *Sessions) Hint(ctx context.Context, session, step string, paths []string) error {
	if err := checkID("id of the session", session); err != nil {
		return err
	}
	others := s.others(ctx, session)
	paths, there := others.split(s, paths)
	err := s.update(ctx, session, func(u *operation.LineUpdate) error {
		h, err := s.load(ctx, session)
		if err != nil {
			return err
		}
		if h.dead != nil && h.dead.life == lapsed {
			h.revive() // its host is there after all
		}
		st := h.openStep()
		if step != "" {
			st = h.step(step)
		}
		switch {
		case (st == nil || st == h.dead) && step == "":
			return notFound("no step of session %q is open", session)
		case st == nil || st == h.dead:
			return notFound("step %q of session %q", step, session)
		}
		known := pathSet(st.Paths)
		fresh := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return known[p] })
		if len(fresh) == 0 {
			return s.renew(ctx, u, h, st)
		}
		saved, err := u.SaveOutside(fresh, st.outside)
		if err != nil {
			return err
		}
		s.add(h, event{Kind: kindHint, Step: st.ID, Paths: fresh, Absent: u.Absent(fresh), Outside: saved})
		return s.append(ctx, u, h, operation.LineAppend{
			Capture: true, Paths: st.Paths, Author: AuthorAgent,
			Message: "hint for step " + name(st.ID),
		})
	})
	if err != nil {
		return s.withBeginning(session, err)
	}
	return missingError(others.each(func(o *otherRoot) error {
		if len(there[o.root]) == 0 {
			return nil
		}
		return o.Hint(ctx, session, step, there[o.root])
	}))
}

// share adds owners.
func (s *step) share(o *Owner) {
	if o == nil {
		return
	}
	sum := &Owner{Lease: o.Lease, Processes: slices.Clone(o.Processes)}
	if s.Owner != nil {
		sum.Processes = append(slices.Clone(s.Owner.Processes), o.Processes...)
		sum.Lease = max(sum.Lease, s.Owner.Lease)
	}
	s.Owner = sum
}

// ShareStep adds processes to the owner of an open step: it counts as running as long
// as one of them lives.
func (s *Sessions) ShareStep(ctx context.Context, session, step string, owner Owner) error {
	err := s.update(ctx, session, func(u *operation.LineUpdate) error {
		h, err := s.load(ctx, session)
		if err != nil {
			return err
		}
		st := h.openStep()
		if st == nil || st.ID != step {
			return notFound("step %q of session %q is not open", step, session)
		}
		s.add(h, event{Kind: kindOwner, Step: st.ID, Owner: &owner})
		if err := st.Owner.check(); err != nil {
			return err
		}
		return s.append(ctx, u, h, operation.LineAppend{Message: "owner of step " + name(st.ID)})
	})
	if err != nil {
		return err
	}
	return missingError(s.inOthers(ctx, session, func(o *Sessions) error { return o.ShareStep(ctx, session, step, owner) }))
}

// OpenStep is a step that has not been ended, and the known state of its owner.
type OpenStep struct {
	Session string        `json:"sessionID"`
	Step    string        `json:"stepID"`
	Began   time.Time     `json:"began"`
	Last    time.Time     `json:"updated"` // event of the session
	State   CheckpointRef `json:"reached"` // the newest that is known to be the step's
	Owner   *Owner        `json:"owner,omitempty"`
	Gone    bool          `json:"gone,omitempty"`   // its owner is, or the lease has run out
	Unseen  bool          `json:"unseen,omitempty"` // its owner cannot be seen from here
}

// OpenSteps lists the steps of all sessions that have not been ended, those included
// that count as ended because their owner is gone. Sessions that cannot be read are left out, and so are the copies
// of steps that a fork has.
func (s *Sessions) OpenSteps(ctx context.Context) ([]OpenStep, error) {
	tips, known, err := s.readTips(ctx)
	if err != nil {
		return nil, err
	}
	var list []OpenStep
	for _, tip := range tips {
		if tip.Err != nil {
			continue
		}
		d, err := known[tip.ID].digest, known[tip.ID].err
		if err == nil && (d == nil || d.Open == "") {
			continue
		}
		var h *history
		if err == nil {
			h, err = s.load(ctx, d.ID)
		}
		if Unreadable(err) || err == nil && s.lines.ForkedAt(h.At) != "" {
			continue
		}
		if err != nil {
			return nil, err
		}
		st := h.dead
		if st == nil {
			st = h.openStep()
		}
		if st != nil {
			list = append(list, OpenStep{h.ID, st.ID, st.Began, instant(h.At), CheckpointRef{h.last.ID, h.last.Hash}, st.Owner, st.life >= lapsed, st.life == unseen})
		}
	}
	return list, nil
}
