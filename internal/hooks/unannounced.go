package hooks

import (
	"context"
	"strings"

	"github.com/seed-fb9cbc17/cairn/session"
)

// IsCommand reports whether the text of a prompt is a command, which the event "typed" carries out.
func IsCommand(text string) bool { return parseCommand(strings.TrimSpace(text)) != nil }

// didTool records a tool that ran before an event could announce it. Its step has all that changed
// since the newest state of the session: the prompt captured one, and so did each step. Where a step
// is open the changes belong to that step.
func (h *hook) didTool(ctx context.Context) error {
	w := h.turn.of(h.event)
	if w.Step != "" {
		w.Parts = append(w.Parts, part{h.call, h.tool, h.recorded})
		return nil
	}
	if err := h.recordAsked(ctx); err != nil {
		return err
	}
	h.turn.Over = false
	return h.recordSince(ctx)
}

// recordSince records what changed since the newest state of the session as a step.
func (h *hook) recordSince(ctx context.Context) error {
	b := session.StepBetween{Session: h.session, Message: h.stepMessage(), Meta: callMeta(h.tool, h.recorded)}
	b.Meta[session.MetaAgent] = h.agent
	h.nameModel(b.Meta)
	step, err := h.sessions.RecordBetween(ctx, b)
	if err != nil || step == nil {
		return err
	}
	h.did.step, h.did.message, h.did.ended = step, step.Message, true
	return nil
}
