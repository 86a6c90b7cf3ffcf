package hooks

import (
	"context"
	"errors"
	"slices"
)

// giveWay ends the step of the parent agent, which only waits for this sub-agent.
func (h *hook) giveWay(ctx context.Context) error {
	if !h.known(ctx) {
		if err := h.begin(ctx, h.session, h.parent, h.title); err != nil {
			return err
		}
	}
	if own := &h.turn.work; len(own.Calls) == 0 && !own.Going {
		return h.endStep(ctx, h.parent, own, nil)
	}
	return nil
}

// known reports whether the session of a sub-agent has all that the event tells of it. To begin it again would count
// what it has changed.
func (h *hook) known(ctx context.Context) bool {
	s, err := h.sessions.Brief(ctx, h.session)
	if err != nil || s.Fetched != nil || s.Parent == "" || h.title != "" && h.title != s.Title {
		return false
	}
	for key := range h.sessionMeta() {
		if _, has := s.Meta[key]; !has {
			return false
		}
	}
	return true
}

// Esc ends the sub-agents that a turn waits for, and no hook tells of it. So a prompt ends the steps of sub-agents, or
// all that the user writes from then on would be theirs. One that goes on, because the prompt was typed
// beside it, has the rest of its call in a step of its own. Those that the end of a turn has listed as running go on.

// cutAgents ends the open steps of sub-agents at a prompt.
func (h *hook) cutAgents(ctx context.Context) (err error) {
	if !speaks(h.agent) {
		return nil
	}
	for id, w := range h.turn.Agents {
		if w.Step == "" || slices.Contains(h.turn.Running, id) {
			continue
		}
		w.Cut = w.Calls
		err = errors.Join(err, h.finish(ctx, id, w))
	}
	return err
}

// survived reports whether an event tells of the return of a call whose step was ended by a prompt.
func (h *hook) survived(w *work) bool {
	if w.Step != "" || !h.all && !slices.Contains(w.Cut, h.call) {
		return false
	}
	cut := len(w.Cut) > 0
	w.Cut = nil
	return cut
}

// dropAgents ends the sub-agents that are gone at the end of a turn, where the agent lists those that are not.
func (h *hook) dropAgents(ctx context.Context) (err error) {
	if h.parent != "" || !h.tasks {
		return nil
	}
	for id, w := range h.turn.Agents {
		if slices.Contains(h.turn.Running, id) {
			continue
		}
		if gone := h.finish(ctx, id, w); gone != nil {
			err = errors.Join(err, gone)
			continue
		}
		delete(h.turn.Agents, id)
	}
	return err
}
