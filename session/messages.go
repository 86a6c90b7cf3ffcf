package session

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// History returns the messages of a session, reverted ones included, in their order.
func (s *Sessions) History(ctx context.Context, id string) ([]Message, error) {
	h, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	hidden, err := s.hidden(ctx, h)
	if err != nil {
		return nil, err
	}
	all, _, err := s.around(ctx, h)
	if err != nil {
		return nil, err
	}
	list := make([]Message, 0, len(h.messages))
	behind := false
	for _, m := range h.messages {
		behind = behind || hidden.from(m)
		out := m.Message
		out.Meta, out.Reverted = maps.Clone(m.Meta), behind
		out.Steps = make([]Step, 0, len(m.steps))
		for _, st := range m.steps {
			step, err := s.stepOut(ctx, h, st)
			if err != nil {
				return nil, err
			}
			step.Reverted = hidden.steps[st.ID]
			if step.Outside, err = s.lines.OutsideChanges(st.outside); err != nil {
				return nil, err
			}
			out.Steps = append(out.Steps, *step)
		}
		behind = behind || hidden.within(m)
		for _, d := range all {
			if d.Parent == id && d.ParentMessage == m.ID {
				out.Children = append(out.Children, d.ID)
			}
		}
		list = append(list, out)
	}
	s.addElsewhere(ctx, h, list)
	return list, nil
}

// reverted is what a revert hides of a session.
type reverted struct {
	last  *boundary // of the session itself
	steps map[string]bool
}

func (r *reverted) from(m *message) bool {
	return r.last != nil && (r.last.Start || r.last.Message == m.ID && r.last.Part == "")
}

func (r *reverted) within(m *message) bool { return r.last != nil && r.last.Message == m.ID }

// hidden finds what reverts of a session and of those above it hide.
func (s *Sessions) hidden(ctx context.Context, h *history) (*reverted, error) {
	out := &reverted{steps: make(map[string]bool)}
	for at, n := h, 0; ; n++ {
		active, err := s.active(ctx, at)
		if err != nil {
			return nil, err
		}
		if len(active) > 0 {
			last := active[len(active)-1]
			if at == h {
				out.last = last
			}
			for _, u := range last.Undone {
				if u.Session == h.ID {
					out.steps[u.Step] = true
				}
			}
		}
		if at.Parent == "" || n > maxDepth {
			return out, nil
		}
		above, isNew, err := s.loadOrNew(ctx, at.Parent)
		if err != nil || isNew {
			return out, err
		}
		at = above
	}
}

// AddMessage records a message, for instance the user's prompt, together with the present state of
// the root. For an existing message it adds the new parts.
func (s *Sessions) AddMessage(ctx context.Context, m MessageBegin) (*Message, error) {
	if err := checkID("id of the session", m.Session); err != nil {
		return nil, err
	}
	if err := checkID("id of the message", m.Message); err != nil {
		return nil, err
	}
	if err := checkParts(m.Parts); err != nil {
		return nil, err
	}
	if err := checkMeta(m.Meta); err != nil {
		return nil, err
	}
	err := s.update(ctx, m.Session, func(u *operation.LineUpdate) error { return s.addMessage(ctx, u, &m) })
	if err != nil {
		return nil, err
	}
	missing := s.inOthers(ctx, m.Session, func(o *Sessions) error {
		_, err := o.AddMessage(ctx, m)
		return err
	})
	list, err := s.History(ctx, m.Session)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(o Message) bool { return o.ID == m.Message })
	if i < 0 {
		return nil, notFound("message %q", m.Message)
	}
	list[i].Missing = missing
	return &list[i], nil
}

func (s *Sessions) addMessage(ctx context.Context, u *operation.LineUpdate, m *MessageBegin) error {
	h, err := s.goOn(ctx, m.Session)
	if err != nil {
		return err
	}
	old := h.message(m.Message)
	if old == nil {
		s.add(h, event{Kind: kindMessage, Message: m.Message, Role: m.Role, Prompt: s.said(m.Prompt), Meta: m.Meta, Parts: m.Parts})
		return s.append(ctx, u, h, operation.LineAppend{Message: "message " + name(m.Message), Capture: true})
	}
	parts := slices.DeleteFunc(slices.Clone(m.Parts), func(p Part) bool { return indexPart(old.Parts, p.ID) >= 0 })
	if len(parts) > 0 {
		s.add(h, event{Kind: kindParts, Message: m.Message, Parts: parts})
	}
	if len(h.pending) == 0 {
		return nil
	}
	return s.append(ctx, u, h, operation.LineAppend{Message: "message " + name(m.Message)})
}
