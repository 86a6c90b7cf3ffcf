package hooks

import "context"

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
