package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/seed-fb9cbc17/cairn/session"
)

// Claude Code names prompts, but a prompt that is typed beside a turn has the id of that turn, and so has one that is
// typed in the moment after a turn's end. Whether such a prompt begins a turn shows later: the tools of a turn of its
// own have a new id. Without that, two turns would count as one, and an undo would take back both.

// heard is the newest turn as the agent names it.
type heard struct {
	ID  string `json:"id"`
	Sum string `json:"sum,omitempty"` // of the text of the newest prompt

	// Next: the first further prompt that had the turn's id.
	Next *session.MessageBegin `json:"next,omitempty"`
}

// hear begins the turn of the event's prompt.
func (h *hook) hear() {
	h.did.message = h.promptID()
	if h.parent != "" {
		return
	}
	h.turn.Heard = nil
	if h.message != "" && speaks(h.agent) {
		h.turn.Heard = &heard{ID: h.message, Sum: textSum(h.prompt)}
	}
	h.turn.follow(h.did.message)
}

func textSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// repeats reports whether the event has the id of the newest turn.
func (h *hook) repeats() bool {
	return h.parent == "" && h.message != "" && h.turn.Heard != nil && h.turn.Heard.ID == h.message
}

// promptID is the message of a prompt that begins a turn.
func (h *hook) promptID() string {
	e := *h.event
	if h.repeats() {
		e.message = "" // it is that of the turn before
	}
	return e.turnID()
}

// isFurther reports whether a prompt is typed beside a turn.
func (h *hook) isFurther() bool { return h.repeats() && !h.turn.Over }

// addFurther takes in a prompt that is typed beside a turn. The turn goes on, and so does its step, unless the
// transcript tells that Esc has ended the step's tools.
func (h *hook) addFurther(ctx context.Context) error {
	h.hearFurther()
	err := h.takeNews(ctx)
	if h.transcript != "" && hasResults(h.transcript, h.turn.Calls) {
		err = errors.Join(err, h.endTurnBefore(ctx, h.session, &h.turn.work))
	}
	return err
}

func (h *hook) hearFurther() {
	h.did.message = h.turn.Message
	was := h.turn.Heard
	if sum := textSum(h.prompt); was.Next == nil && was.Sum != sum { // else another call tells of the same prompt
		was.Sum, was.Next = sum, h.promptMessage()
	}
}

// endTurnBefore ends the steps that a prompt to a session finds open.
func (h *hook) endTurnBefore(ctx context.Context, id string, w *work) error {
	return errors.Join(h.finish(ctx, id, w), h.cutAgents(ctx))
}

// meetTurn begins the turn of a further prompt with its first tool, which has another id.
func (h *hook) meetTurn(ctx context.Context) error {
	now := h.turn.Heard
	switch {
	case h.message == "" || now == nil:
		return nil
	case now.ID == h.message:
		now.Sum = "" // every call for its prompt is over: the same text is another prompt
		return nil
	case h.parent != "" && (now.Next == nil || h.turn.Agents[h.session] != nil):
		return nil // a sub-agent that goes on has the id of the prompt that was typed last
	}
	next := now.Next
	now.ID, now.Next = h.message, nil
	if next == nil && h.agent == Claude && h.turn.Over {
		next = h.promptMessage() // of a line for the shell, of which no hook tells
	}
	if next == nil {
		return nil // a sub-agent has come back, and the turn goes on
	}
	err := h.endTurnBefore(ctx, h.topSession(), &h.turn.work)
	h.turn.follow(h.message)
	next.Message, h.turn.Asked = h.message, next
	return err
}

// goOn takes in the prompt of an agent itself, because a sub-agent or a command has come back. The turn goes on, under
// the id of that prompt.
func (h *hook) goOn(ctx context.Context) error {
	h.turn.Over = false
	if h.message != "" && h.turn.Heard != nil {
		h.turn.Heard.ID = h.message
	}
	return h.shellEnded(ctx)
}
