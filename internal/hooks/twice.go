package hooks

import (
	"context"
	"fmt"
	"time"
)

// An agent whose settings have cairn twice, for the user and for the project, calls the hook twice for each event, at
// the same time or one call after the other. Most events do no harm a second time. An undo would take back two turns.
// So the second call for one prompt gives the answer of the first.

// typed is an undo or a redo that was carried out.
type typed struct {
	Command string    `json:"command"` // with what the agent tells of its prompt
	Ended   time.Time `json:"ended"`
	Answer  string    `json:"answer"`
}

// twinTime is the time after a command in which another call for the same prompt may come. A user takes longer to type
// it again.
const twinTime = time.Second

// once carries out a command, unless another call for the same prompt has done so.
func (h *hook) once(ctx context.Context) error {
	if !h.said || h.do.verb != "undo" && h.do.verb != "redo" || h.do.dryRun {
		return h.command(ctx)
	}
	if h.isTwin() {
		h.did.text = h.turn.Typed.Answer
		return nil
	}
	err := h.command(ctx)
	if err == nil {
		h.turn.Typed = &typed{h.typedCommand(), time.Now(), h.did.text}
	}
	return err
}

// typedCommand names the command of the event.
func (h *hook) typedCommand() string { return fmt.Sprintf("%s %s %+v", h.message, h.at, *h.do) }

// isTwin reports whether another call for the prompt has carried out its command. Where the agent tells nothing of its
// prompts, that is a call that began before the command had ended.
func (h *hook) isTwin() bool {
	was, within := h.turn.Typed, twinTime
	if h.message == "" && h.at == "" {
		within = 0
	}
	return was != nil && was.Command == h.typedCommand() && h.began.Before(was.Ended.Add(within))
}
