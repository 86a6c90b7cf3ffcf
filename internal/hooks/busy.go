package hooks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// A command that is typed while a tool runs is refused: the turn would go on, and the
// result would be a mixture. Not every agent tells its hooks that Esc has ended a tool, so
// the same command again, with no event between the two, counts as typed after Esc. When
// such a call comes back after all, its changes become a step of their own.
//
// The sign of Esc comes a moment later than the message on the screen: the agent then
// writes its transcript or calls its hook. A command that meets an open call waits for the
// sign.

const (
	signBound = 2 * time.Second       // how long a command waits for the sign of Esc
	signPause = 50 * time.Millisecond // between two looks
)

// beside describes the calls that were running when a command was typed.
type beside struct{ calls, tools string }

// awaitEnd waits until the calls that are at work have ended, for a short time. It holds
// no lock, so that the hook that tells of the end is not kept waiting.
func (h *hook) awaitEnd(ctx context.Context, look func() *turn, pause func(context.Context, time.Duration) error) {
	if h.kind != command || h.do.verb != "undo" && h.do.verb != "redo" || h.do.dryRun {
		return
	}
	t := look()
	if h.beside = (beside{t.atWork(), t.tools()}); h.beside.calls == "" || h.beside.calls == t.Refused {
		return
	}
	for left := signTime(ctx); left > 0 && !h.ended(t); left -= signPause {
		if pause(ctx, signPause) != nil {
			return
		}
		t = look()
	}
}

// ended reports whether no call of the turn goes on. A call that has come back in a turn
// that is not over was at work: the model goes on with its result.
func (h *hook) ended(t *turn) bool {
	return t.Over && t.atWork() == "" || h.transcript != "" && hasResults(h.transcript, t.Calls)
}

// signTime leaves most of the time that the agent waits to the command itself.
func signTime(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return signBound
	}
	return min(signBound, time.Until(end)/4)
}

// sleep is the pause of a hook that has no other.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// atWork names the calls that have not come back.
func (t *turn) atWork() string {
	calls := slices.Clone(t.Calls)
	for id, w := range t.Agents {
		for _, call := range w.Calls {
			calls = append(calls, id+" "+call)
		}
	}
	slices.Sort(calls)
	return strings.Join(calls, "\n")
}

// tools names the tools of the session's own calls that have not come back.
func (t *turn) tools() string {
	var names []string
	for _, p := range t.Parts {
		if slices.Contains(t.Calls, p.ID) && p.Tool != "" && !slices.Contains(names, p.Tool) {
			names = append(names, p.Tool)
		}
	}
	if len(names) == 0 {
		return "a tool of a sub-agent was"
	}
	if len(names) == 1 {
		return names[0] + " was"
	}
	return strings.Join(names, ", ") + " were"
}

// refuseBeside refuses an undo or a redo beside a tool, once. Claude Code calls the hook
// when a prompt is typed and shows the answer after the turn, so the text is true then, too.
func (h *hook) refuseBeside(ctx context.Context) (bool, error) {
	if err := h.endInterrupted(ctx); err != nil {
		return false, err
	}
	calls, tools := h.turn.atWork(), h.turn.tools()
	switch {
	case h.steered() && !h.do.dryRun:
		h.did.text = "cairn: nothing was done yet: the turn was at work when this was typed. Qwen Code ends the turn and gives the command again; if it does not, type it again"
		return true, nil
	case h.do.dryRun || calls != "" && h.turn.Refused == calls:
		return false, nil
	case calls != "":
		h.turn.Refused = calls
	case h.beside.calls == "" || h.interrupted || h.turn.Over:
		return false, nil
	default:
		tools = h.beside.tools
	}
	h.did.text = "cairn: nothing was done: " + tools + " at work when this was typed. Stop it (Esc) or let it end, then type it again"
	return true, nil
}

// steered reports whether a command was handed in between two tools of its own turn. Qwen
// Code ends the turn where a hook keeps such a prompt from the model, and gives the command
// once more, as a prompt of its own. Carried out both times, one undo takes back two turns.
func (h *hook) steered() bool {
	return h.agent == Qwen && h.message != "" && h.message == h.turn.Message && !h.turn.Over
}

// goesOn reports whether a prompt was typed while a tool of the session runs, and waits for it: what the tool writes
// from now on is its own. OpenCode and Kilo CLI call the hook at that moment, and end the turn after Esc.
func (h *hook) goesOn() bool {
	return h.parent == "" && len(h.turn.Calls) > 0 && ownUndo[h.agent] != ""
}

// endInterrupted ends the step of calls that have come back without a word to the hooks.
func (h *hook) endInterrupted(ctx context.Context) error {
	if h.transcript == "" || h.do.dryRun || !hasResults(h.transcript, h.turn.Calls) {
		return nil
	}
	h.interrupted = true
	return h.finish(ctx, h.session, &h.turn.work)
}

// late is a step that was ended beside its tools.
type late struct {
	Step  string   `json:"step"`
	Calls []string `json:"calls"`
}

// lateSteps lists the steps whose tools were running when their session was taken back.
func (t *turn) lateSteps(own string) map[string]late {
	all := make(map[string]late)
	for id, w := range t.Agents {
		if w.Step != "" && len(w.Calls) > 0 {
			all[id] = late{w.Step, w.Calls}
		}
	}
	if t.Step != "" && len(t.Calls) > 0 {
		all[own] = late{t.Step, t.Calls}
	}
	return all
}

// endLate records the changes of a call that returns after its step was ended.
func (h *hook) endLate(ctx context.Context) error {
	l, ok := h.turn.Late[h.session]
	if !ok || !h.all && !slices.Contains(l.Calls, h.call) {
		return nil
	}
	step, err := h.sessions.EndStep(ctx, session.StepEnd{Session: h.session, Step: l.Step, Paths: h.paths})
	if err != nil && !errors.Is(err, cairn.ErrNotFound) {
		return err
	}
	delete(h.turn.Late, h.session)
	if err == nil {
		h.did.step, h.did.message, h.did.ended = step, step.Message, true
	}
	return nil
}

// besideUndo names the commands and sub-agents that go on beside an undo.
func (h *hook) besideUndo() string {
	var lines string
	if len(h.turn.Running) > 0 {
		lines += "\na sub-agent is still at work; what it writes from now on is not taken back"
	}
	if h.turn.Background {
		lines += "\na background command of this session was still running when its turn ended; what it writes from now on is not taken back"
	}
	return lines
}
