package session

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// cutMessage makes a message for a step that outlived its own: the id is known, the prompt is not.
// It counts as the user's, so that a turn begins with it.
func (h *history) cutMessage(id string, e *entry, at int64) *message {
	m := &message{Message: Message{ID: id, Role: RoleUser, Created: instant(at), Truncated: true}, at: at, begun: e.mark}
	h.messages = append(h.messages, m)
	return m
}

// mendOpen makes an open step begin with the oldest state that is left, if its own beginning was
// cleaned away: the step can still be ended.
func (h *history) mendOpen(oldest *entry) {
	if !h.truncated || h.Open == "" || h.step(h.Open) != nil {
		return
	}
	id := h.OpenMessage
	if id == "" {
		id = h.Open
	}
	at := oldest.rec.Now.At
	if h.message(id) == nil {
		h.cutMessage(id, oldest, at)
	}
	h.applyStep(&event{Kind: kindStep, Message: id, Step: h.Open}, oldest, at)
}

// ends returns the checkpoints whose older ones have been cleaned away.
func (s *Sessions) ends(ctx context.Context) ([]*operation.LineEvent, error) {
	return s.lines.Ends(ctx)
}

// intact returns the index of the first entry after which the known entries of a line still follow
// each other. An older part of the others has been cleaned away.
func intact(places map[string]int, ends []*operation.LineEvent) (from int) {
	for _, e := range ends {
		if n := places[e.ID]; n > 0 {
			from = max(from, n-1)
		}
	}
	return from
}

// truncated tells which sessions may have lost their beginning: those that a cut line
// tells of, and forks, which have the line of another.
func (s *Sessions) truncated(ctx context.Context) (func(*digest) bool, error) {
	ends, err := s.ends(ctx)
	if err != nil {
		return nil, err
	}
	of := make(map[string]bool)
	unknown := false
	for _, e := range ends {
		rec, err := s.decode(e)
		switch {
		case Unreadable(err):
			unknown = true
		case err != nil:
			return nil, err
		case rec.Now.ID != "":
			of[rec.Now.ID] = true
		case e.OnLine:
			unknown = true // a state saved before a revert tells no session
		}
	}
	return func(d *digest) bool { return unknown || of[d.ID] || len(of) > 0 && d.Fork != nil }, nil
}

// tolerate lets a session be shown without a state that has been thinned, or cleaned away with its
// beginning.
func (h *history) tolerate(err error) error {
	if errors.Is(err, cairn.ErrThinned) {
		return nil
	}
	if h.truncated && (errors.Is(err, cairn.ErrNotFound) || errors.Is(err, ErrExpired)) {
		return nil
	}
	return err
}

// lost reports whether a message, or a part, may have been cleaned away.
func (h *history) lost(to Target) bool {
	return h.truncated && !to.Start && !slices.ContainsFunc(h.messages, func(m *message) bool { return m.ID == to.Message })
}
