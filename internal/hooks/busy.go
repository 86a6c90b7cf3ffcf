package hooks

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// A command that is typed while a tool runs is refused: the turn would go on, and the
// result would be a mixture. Not every agent tells its hooks that Esc has ended a tool, so
// the same command again, with no event between the two, counts as typed after Esc. When
// such a call comes back after all, its changes become a step of their own.

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
	calls := h.turn.atWork()
	if calls == "" || h.do.dryRun || h.turn.Refused == calls {
		return false, nil
	}
	h.turn.Refused = calls
	h.did.text = "cairn: nothing was done: " + h.turn.tools() + " at work when this was typed. Stop it (Esc) or let it end, then type it again"
	return true, nil
}

// endInterrupted ends the step of calls that have come back without a word to the hooks.
func (h *hook) endInterrupted(ctx context.Context) error {
	if h.transcript == "" || h.do.dryRun || !hasResults(h.transcript, h.turn.Calls) {
		return nil
	}
	return h.finish(ctx, h.session, &h.turn.work)
}

// late is a step that was ended beside its tools.
type late struct {
	Step  string   `json:"step"`
	Calls []string `json:"calls"`
}

// keepLate remembers what was at work when its session was taken back.
func (t *turn) keepLate(own string) map[string]late {
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

// endLate records what a call wrote that has come back although its step was ended.
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

// besideUndo says what goes on beside an undo.
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
