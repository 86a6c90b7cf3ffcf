package hooks

import (
	"context"

	"github.com/seed-fb9cbc17/cairn/session"
)

// The capture at a prompt runs while the model thinks: the hook of the prompt leaves it to a
// background process and returns. The next call that changes the session waits for it, or does it
// itself if that process has died. So a slow capture, as the first one of a large directory, has its
// time before the first tool. A tool still begins its step with a capture of its own, because the
// user may have edited files since the prompt. A prompt that no tool answers waits for nothing.

// The capture after a tool runs while the model thinks, too. The next call of the session waits for it. So a tool
// that follows at once waits as long as it would have waited without, and one that follows later does not. No tool
// begins before the capture that ends the step of the tool before it.

// Overlap records prompts, and ends steps, in the background.
type Overlap struct {
	// Begin begins to record a message, and its session if that is new, and returns a ticket.
	Begin func(context.Context, session.SessionBegin, session.MessageBegin) (ticket string, err error)

	// Wait waits until the work of a ticket is done, and returns the error of the work.
	Wait func(ctx context.Context, ticket string) error

	// End begins to end a step and returns a ticket; nil = a step ends before its hook returns.
	End func(session.StepEnd) (ticket string, err error)

	// WaitEnd waits until the work of such a ticket is done, and returns the step.
	WaitEnd func(ctx context.Context, ticket string) (*session.Step, error)
}

// ending is a step that is being ended.
type ending struct {
	Ticket string `json:"ticket"`
	Was    work   `json:"was"`    // the open step
	Missed int    `json:"missed"` // of the session, as the step tells
}

// endLater ends the open step of the session in the background, and reports whether that has begun. An adapter of
// the neutral protocol wants the step in the answer. A tool that has left something running needs another step at
// once.
func (h *hook) endLater(w *work, paths []string) bool {
	if h.overlap == nil || h.overlap.End == nil || !speaks(h.agent) || h.parent != "" || w.Going || len(h.turn.Linked) > 0 {
		return false
	}
	id, err := h.overlap.End(h.stepEnd(h.session, w, paths))
	if err != nil {
		return false
	}
	h.turn.Ending = &ending{id, *w, h.turn.Missed}
	w.close()
	return true
}

// settleEnd waits for the step that is being ended. If that has failed, the step is open as before, and this call
// ends it.
func (h *hook) settleEnd(ctx context.Context) error {
	e := h.turn.Ending
	if e == nil {
		return nil
	}
	if h.overlap != nil && h.overlap.WaitEnd != nil { // else nothing is begun in the background any more
		step, err := h.overlap.WaitEnd(ctx, e.Ticket)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			h.turn.Ending = nil
			h.noteEnd(e.Missed, step)
			return nil
		}
	}
	h.turn.Ending = nil
	w := &h.turn.work
	w.Step, w.Parts, w.Git, w.Seen = e.Was.Step, e.Was.Parts, e.Was.Git, e.Was.Seen
	return h.endStep(ctx, h.topSession(), w, nil)
}

// overlaps reports whether the event's prompt is recorded in the background. Sub-agents are begun
// by their parents' adapters, with a title and a parent. Where tools may begin without an event, the
// capture is over before the prompt's hook is. A tool that is a turn of its own has to wait anyway.
func (h *hook) overlaps() bool { return h.overlap != nil && h.parent == "" && !h.final && !h.alone }

// recordPrompt records the message of a turn.
func (h *hook) recordPrompt(ctx context.Context, m *session.MessageBegin) error {
	if h.overlaps() {
		begin := session.SessionBegin{ID: h.session, Meta: h.sessionMeta()}
		id, err := h.overlap.Begin(ctx, begin, *m)
		if err == nil {
			h.turn.Pending, h.turn.Asked = id, m
			return nil
		}
	}
	err := h.addPrompt(ctx, m)
	if err != nil && h.parent == "" {
		h.turn.Asked = m // the first tool records it
	}
	return err
}

// keepPrompt begins the turn of a prompt whose hook has no time to record it, or cannot. The first tool records the
// prompt. Without its turn the tools would count as those of the turn before, and an undo would take both turns back as
// one. Where the prompt before is still being recorded, the text of this one is lost.
func (h *hook) keepPrompt() {
	switch {
	case h.kind != prompt || h.parent != "":
		return
	case h.isFurther():
		h.hearFurther()
		return
	}
	h.hear()
	if h.turn.Pending == "" {
		h.turn.Asked = h.promptMessage()
	}
}

// addPrompt records the message of a turn now. Its session is begun if no call has begun it.
func (h *hook) addPrompt(ctx context.Context, m *session.MessageBegin) error {
	if h.overlaps() {
		if err := h.begin(ctx, h.session, "", ""); err != nil {
			return err
		}
	}
	_, err := h.sessions.AddMessage(ctx, *m)
	return err
}

// settle waits for the prompt that is being recorded. If that has failed, the call records the prompt
// itself, and reports what is wrong.
func (h *hook) settle(ctx context.Context) error {
	if h.turn.Pending == "" || h.overlap == nil {
		return nil
	}
	switch h.kind {
	case sessionBegin, prompt, before, did, command:
	default:
		return nil // it changes nothing that a prompt is recorded with
	}
	err := h.overlap.Wait(ctx, h.turn.Pending)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	h.turn.Pending = ""
	switch {
	case err == nil:
		h.turn.Asked = nil
	case h.kind == prompt || h.kind == before || h.kind == did:
		return h.recordAsked(ctx)
	}
	return nil
}
