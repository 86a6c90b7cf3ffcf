package hooks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/known"
	"github.com/seed-fb9cbc17/cairn/session"
)

// A background command that outlives its turn goes on writing, and no hook is called for it. The
// changes found at the next event are a turn of their own, "after turn 3, by a background command".
// Edits of the user in that time cannot be told apart. Undo therefore takes such a turn back alone
// and says so, before it takes back the turn that began the command. If no command was left
// running, such changes are the user's.

const (
	betweenSuffix = "+background" // of the message's id
	metaBetween   = "background"  // in the message's Meta: the number of the turn before
)

// noteLeft remembers at the end of a turn whether a command was left running.
func (h *hook) noteLeft() {
	if h.parent != "" {
		return
	}
	h.turn.Left = ""
	if h.turn.Background {
		h.turn.Left = h.turn.Message
	}
}

// recordLeft records what changed since the turn that left a command running. pending
// keeps a redo possible: while something is taken back, nothing is recorded.
func (h *hook) recordLeft(ctx context.Context, pending bool) error {
	if h.turn.Left == "" || h.parent != "" || h.turn.Step != "" {
		return nil
	}
	history, err := h.messages(ctx)
	if err != nil {
		return err
	}
	n := 0
	for i := range history {
		if m := &history[i]; m.Role == session.RoleUser && m.Meta[metaBetween] == "" {
			n++
		}
		if history[i].ID == h.turn.Left {
			break
		}
	}
	step, err := h.sessions.RecordBetween(ctx, session.StepBetween{
		Session: h.session, Message: shortID(h.turn.Left + betweenSuffix), Prompt: fmt.Sprintf("after turn %d, by a background command", n),
		Meta: map[string]string{session.MetaAgent: h.agent, metaBetween: fmt.Sprint(n)}, Pending: pending,
	})
	if err == nil && step != nil {
		h.did.ended = true
	}
	return err
}

// noteShell notes a command that goes on.
func (h *hook) noteShell() {
	if h.agent == known.Copilot && h.background && !slices.Contains(h.turn.Shells, h.left) {
		h.turn.Shells = append(h.turn.Shells, h.left)
	}
}

// shellEnded ends what counts to commands that went on, once the last of them has ended. What changes from then on is
// the user's.
func (h *hook) shellEnded(ctx context.Context) error {
	h.turn.Shells = slices.DeleteFunc(h.turn.Shells, func(id string) bool { return id == h.back })
	if h.back == "" || len(h.turn.Shells) > 0 {
		return nil
	}
	if err := h.recordLeft(ctx, true); err != nil {
		return err
	}
	h.turn.Background, h.turn.Going = false, false
	if !h.isReverted(ctx) { // else a prompt or a tool records it
		h.turn.Left = ""
	}
	if len(h.turn.Calls) > 0 {
		return nil
	}
	return h.endStep(ctx, h.session, &h.turn.work, nil)
}

// recordsLeft lists the commands that show or take back turns. A redo makes no record: it
// would have nothing to bring back then.
var recordsLeft = map[string]bool{"undo": true, "log": true, "diff": true, "status": true, "revert": true}

// takenBackBetween says which of the turns that an undo took back hold what changed while a
// background command ran. before are the messages that were taken back earlier.
func (h *hook) takenBackBetween(ctx context.Context, before map[string]bool) string {
	if before == nil {
		return ""
	}
	history, err := h.history(ctx)
	if err != nil {
		return ""
	}
	return betweenText(history, "taken back", func(m *session.Message) bool { return m.Reverted && !before[m.ID] })
}

// betweenText is the line about what changed while a background command ran, among the
// messages that an undo takes back; "" if there are none.
func betweenText(history []session.Message, done string, taken func(*session.Message) bool) string {
	var turns []string
	others := 0
	for i := range history {
		switch m := &history[i]; {
		case !taken(m) || changedFiles(m) == 0:
		case m.Meta[metaBetween] != "":
			turns = append(turns, "turn "+m.Meta[metaBetween])
		default:
			others++
		}
	}
	if len(turns) == 0 {
		return ""
	}
	text := done + ": what changed after " + strings.Join(turns, " and ") + " while a background command ran, your own edits of that time included; cairn redo brings it back"
	if others == 0 {
		text += ", cairn undo takes back " + turns[0] + " itself"
	}
	return text
}
