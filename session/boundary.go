package session

import (
	"slices"

	"github.com/seed-fb9cbc17/cairn"
)

// target is the place to which a revert goes back, found among the messages.
type target struct {
	event          // with the boundary in the form that hosts show
	own   []*step  // of the session, that are taken back
	gone  []string // messages from the match on
}

// find applies OpenCode's rules. Without a part the beginning of the message matches;
// a part matches wherever it is. All steps after the match are taken back. The
// boundary that is shown is the part only if a text or a call of a tool precedes it
// in its message; otherwise it is the last message of the user up to the match.
func (h *history) find(to Target) (*target, error) {
	if to.Start {
		t := &target{event: event{Kind: kindRevert, Start: true}}
		if len(h.messages) > 0 {
			t.Message = h.messages[0].ID
		}
		t.addMessages(h.messages)
		return t, nil
	}
	user := ""
	for i, m := range h.messages {
		if m.Role == RoleUser {
			user = m.ID
		}
		t := &target{event: event{Kind: kindRevert, Message: m.ID}}
		if to.Part == "" {
			if m.ID != to.Message {
				continue
			}
			t.addMessages(h.messages[i:])
		} else {
			at := m.place(to.Part)
			if at == nil {
				continue
			}
			t.own = m.stepsAfter(at)
			t.addMessages(h.messages[i+1:])
			if at.precededBy {
				t.Part = to.Part
			}
		}
		if t.Part == "" && user != "" {
			t.Message = user
		}
		return t, nil
	}
	if h.lost(to) {
		return nil, expired(cairn.ErrNotFound, "where session %q is to be reverted to: its beginning", h.ID)
	}
	if to.Part != "" {
		return nil, notFound("part %q of session %q", to.Part, h.ID)
	}
	return nil, notFound("message %q of session %q", to.Message, h.ID)
}

func (t *target) addMessages(messages []*message) {
	for _, m := range messages {
		t.own = append(t.own, m.steps...)
		t.gone = append(t.gone, m.ID)
	}
}

// goes reports whether a sub-agent that the message or step called is taken back.
func (t *target) goes(messageID, stepID string) bool {
	if t.Start || slices.Contains(t.gone, messageID) {
		return true
	}
	return stepID != "" && slices.ContainsFunc(t.own, func(s *step) bool { return s.ID == stepID })
}

// place is where a part stands in its message.
type place struct {
	step       int // its index, -1 before all steps
	index      int // among the parts there
	precededBy bool
}

func (m *message) place(part string) *place {
	work := false
	for n, parts := range m.partLists() {
		for i, p := range parts {
			if p.ID == part {
				return &place{n - 1, i, work}
			}
			work = work || p.Type == PartText || p.Type == PartTool
		}
	}
	return nil
}

// partLists are the parts of the message itself, then those of each step.
func (m *message) partLists() [][]Part {
	lists := [][]Part{m.Parts}
	for _, s := range m.steps {
		lists = append(lists, s.Parts)
	}
	return lists
}

// stepsAfter lists the steps whose changes come after a part. The step of the part itself is one of
// them, unless the part reports the step's changes or follows such a part.
func (m *message) stepsAfter(at *place) []*step {
	if at.step < 0 {
		return m.steps
	}
	s := m.steps[at.step]
	told := slices.IndexFunc(s.Parts, func(p Part) bool { return p.Type == PartPatch })
	if told >= 0 && at.index >= told {
		return m.steps[at.step+1:]
	}
	return m.steps[at.step:]
}

// turns lists the messages that begin a turn: the first one and the user's, or all messages if there
// is none of the user.
func (h *history) turns() []*message {
	if !h.hasUser() {
		return h.messages
	}
	turns := h.messages[:1:1]
	for _, m := range h.messages[1:] {
		if m.Role == RoleUser {
			turns = append(turns, m)
		}
	}
	return turns
}

// hasUser reports whether the session has a message of the user. Else each message is a turn.
func (h *history) hasUser() bool {
	return slices.ContainsFunc(h.messages, func(m *message) bool { return m.Role == RoleUser })
}

// position returns the index of a boundary among the messages, their number for nil.
func (h *history) position(b *boundary) int {
	switch {
	case b == nil:
		return len(h.messages)
	case b.Start:
		return 0
	}
	i := slices.IndexFunc(h.messages, func(m *message) bool { return m.ID == b.Message })
	if i >= 0 && b.Part != "" {
		i++
	}
	return i
}

// before returns the newest turn that begins before a boundary, nil for none.
func (h *history) before(b *boundary) *message {
	end := h.position(b)
	for _, m := range slices.Backward(h.turns()) {
		if slices.Index(h.messages, m) < end {
			return m
		}
	}
	return nil
}

// after returns the first turn that begins after the boundary's own, nil for none.
func (h *history) after(b *boundary) *message {
	at := h.position(b)
	if b.Part != "" {
		at-- // the turn of the part itself comes back with it
	}
	for _, m := range h.turns() {
		if slices.Index(h.messages, m) > at {
			return m
		}
	}
	return nil
}
