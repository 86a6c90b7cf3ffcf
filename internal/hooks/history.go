package hooks

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// messages lists the messages of the session; one that has not begun has none.
func (h *hook) messages(ctx context.Context) ([]session.Message, error) {
	list, err := h.sessions.History(ctx, h.session)
	if errors.Is(err, cairn.ErrNotFound) {
		return nil, nil
	}
	return list, err
}

// history lists the messages of the session. The steps of sub-agents are among those of the message that began them,
// because an undo takes them back with it.
func (h *hook) history(ctx context.Context) ([]session.Message, error) {
	history, err := h.messages(ctx)
	for i := range history {
		m := &history[i]
		if err == nil && len(m.Children) > 0 {
			err = h.addChildren(ctx, m, m.Children)
			slices.SortStableFunc(m.Steps, func(a, b session.Step) int { return a.Began.Compare(b.Began) })
		}
	}
	return history, err
}

// addChildren adds the steps of sub-agents, and of theirs, to a message.
func (h *hook) addChildren(ctx context.Context, m *session.Message, children []string) error {
	for _, id := range children {
		history, err := h.sessions.History(ctx, id)
		if errors.Is(err, cairn.ErrNotFound) || session.Unreadable(err) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return err
		}
		for i := range history {
			m.Steps = append(m.Steps, history[i].Steps...)
			if err := h.addChildren(ctx, m, history[i].Children); err != nil {
				return err
			}
		}
	}
	return nil
}

// changedBetween reports whether one of the messages between two boundaries changed files, or was about to. It also
// returns the number of messages before the second boundary, which is that of a session after a move.
func changedBetween(history []session.Message, from int, to *session.Boundary) (changed bool, now int) {
	if now = len(history); to != nil {
		now = max(0, slices.IndexFunc(history, func(m session.Message) bool { return m.ID == to.Message }))
	}
	passed := history[min(from, now):max(from, now)]
	return slices.ContainsFunc(passed, func(m session.Message) bool {
		return changedFiles(&m) > 0 || slices.ContainsFunc(m.Steps, func(st session.Step) bool { return st.Open() })
	}), now
}

// boundaryOf is the number of messages that are not taken back.
func boundaryOf(history []session.Message) int {
	n := slices.IndexFunc(history, func(m session.Message) bool { return m.Reverted })
	if n < 0 {
		return len(history)
	}
	return n
}
