package hooks

import (
	"context"
	"errors"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

func (h *hook) beforeTool(ctx context.Context) error {
	w := h.turn.of(h.event)
	if !w.Old {
		return h.beginTool(ctx, w)
	}
	late := h.endStep(ctx, h.session, w, nil) // if that fails again, the step takes in this tool
	return errors.Join(late, h.beginTool(ctx, w))
}

// beginTool begins the step of a tool, or adds the tool to the open step.
func (h *hook) beginTool(ctx context.Context, w *work) error {
	if h.alone {
		if err := h.beginAlone(ctx); err != nil {
			return err
		}
	}
	if err := h.recordLeft(ctx, false); err != nil {
		return err
	}
	if h.parent == "" {
		h.turn.Left = ""
	}
	if err := h.recordAsked(ctx); err != nil {
		return err
	}
	if h.parent != "" { // after the prompt: a sub-agent that begins before it would count to the turn before
		if err := h.giveWay(ctx); err != nil {
			return err
		}
	}
	h.turn.Over = false
	was := *w
	w.announce(h.event)
	h.see(w)
	var err error
	if w.Step != "" {
		err = h.hint(ctx, w)
	}
	if w.Step == "" {
		err = h.beginStep(ctx, w)
	}
	if err != nil {
		*w = was
	}
	return err
}

// hint tells of paths that a further tool of an open step names.
func (h *hook) hint(ctx context.Context, w *work) error {
	paths := h.targets()
	if len(paths) == 0 {
		return nil
	}
	err := h.sessions.Hint(ctx, h.session, w.Step, paths)
	switch {
	case errors.Is(err, cairn.ErrOtherRoot):
		err = nil // the step is recorded without its ignored files there
	case errors.Is(err, cairn.ErrNotFound):
		w.Step, err = "", nil // another process has ended it
	}
	return err
}

// beginStep begins a step of the event's session. It is named after the call, unless
// that names nothing or is a call that came back before.
func (h *hook) beginStep(ctx context.Context, w *work) error {
	b := session.StepBegin{
		Session: h.session, Message: h.stepMessage(), Role: session.RoleUser, Paths: h.targets(),
		Meta: callMeta(h.tool, h.recorded), Owner: h.turn.owner(),
	}
	b.Meta[session.MetaAgent] = h.agent
	h.nameModel(b.Meta)
	if !unnamed(h.call) {
		// Later calls of the hook end this step, also if this one is killed once it has begun.
		b.Step, w.Step = h.call, h.call
		if err := h.saveTurn(); err != nil {
			return err
		}
	}
	step, err := h.sessions.BeginStep(ctx, b)
	if err == nil && !step.Open() {
		b.Step = ""
		step, err = h.sessions.BeginStep(ctx, b)
	}
	if err != nil {
		return err
	}
	w.Step, w.Git, h.did.step, h.did.message = step.ID, h.position(), step, step.Message
	h.noteMissing(step.Missing)
	return nil
}

// stepMessage is the message that a step answers. Agents go on under new ids when a
// sub-agent comes back, so what counts is the last prompt. Where none was heard, it is
// the id that the agent has for it now, or the session's newest message.
func (h *hook) stepMessage() string {
	switch {
	case h.event.message != "" && (h.parent != "" || !speaks(h.agent)):
		return h.event.message
	case h.turn.Message == "" && speaks(h.agent):
		h.turn.Message = h.event.message
	}
	return h.turn.Message
}

func (h *hook) afterTool(ctx context.Context) error {
	if err := h.endLate(ctx); err != nil {
		return err
	}
	w := h.turn.of(h.event)
	if h.survived(w) {
		return h.recordSince(ctx)
	}
	w.Going = w.Going || h.background
	h.noteShell()
	if h.all {
		w.Calls = nil
	} else {
		w.forget(h.call)
	}
	if len(w.Calls) > 0 || w.Step == "" {
		return nil
	}
	if h.endLater(w, h.paths) {
		return nil
	}
	seen := w.Seen
	err := h.endStep(ctx, h.session, w, h.paths)
	if err == nil && w.Going {
		h.call, h.paths = "", nil
		h.seeAgain(w, seen)
		err = h.beginStep(ctx, w)
	}
	return err
}

// finish ends the open step of one session.
func (h *hook) finish(ctx context.Context, id string, w *work) error {
	w.Calls, w.Going = nil, false
	return h.endStep(ctx, id, w, nil)
}

func (h *hook) finishAll(ctx context.Context) error {
	err := h.finish(ctx, h.session, &h.turn.work)
	for id, w := range h.turn.Agents {
		err = errors.Join(err, h.finish(ctx, id, w))
	}
	h.turn.Agents, h.turn.Running = nil, nil
	return err
}

// endStep ends a step if one is open. On error it stays open: the next event that
// ends steps tries again.
func (h *hook) endStep(ctx context.Context, id string, w *work, paths []string) error {
	if w.Step == "" {
		w.Parts, w.Seen = nil, nil
		return nil
	}
	missed := h.turn.Missed
	step, err := h.sessions.EndStep(ctx, h.stepEnd(id, w, paths))
	if err != nil && !errors.Is(err, cairn.ErrNotFound) {
		return err
	}
	w.close()
	if err == nil {
		h.noteEnd(missed, step)
	}
	return nil
}

// noteEnd notes that a step has ended, which tells of that many missed ones.
func (h *hook) noteEnd(missed int, step *session.Step) {
	h.turn.Noted = missed
	h.did.step, h.did.message, h.did.ended = step, step.Message, true
	h.noteMissing(step.Missing)
}

// stepEnd is the end of an open step, with all that is known of its tools.
func (h *hook) stepEnd(id string, w *work, paths []string) session.StepEnd {
	end := session.StepEnd{Session: id, Step: w.Step, Paths: paths}
	for _, p := range w.Parts {
		end.Parts = append(end.Parts, session.Part{ID: p.ID, Type: session.PartTool, Meta: callMeta(p.Tool, p.Command)})
	}
	end.Parts = append(end.Parts, h.moved(w)...)
	end.Parts = append(end.Parts, h.stays(w, paths)...)
	if missed := h.turn.Missed - h.turn.Noted; missed > 0 {
		end.Parts = append(end.Parts, session.MissedPart(w.Step+"/missed", missed, h.turn.Why))
	}
	return end
}
