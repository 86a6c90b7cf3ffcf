package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// Fork makes a new session that shares the history before a message; with an empty message, all
// that is not reverted. Files stay as they are: Session.Fork names the checkpoint of the state at
// that point, for Repo.Restore. The fork has the steps of the shared part and can revert them. It
// has no children.
//
// Forking again with the same arguments is no error. If another session has the id, the error is
// cairn.ErrExists. If the message has been cleaned away, it is ErrExpired.
func (s *Sessions) Fork(ctx context.Context, id, message, newID string) (*Session, error) {
	if err := checkID("id of the fork", newID); err != nil {
		return nil, err
	}
	if err := checkNew(newID); err != nil {
		return nil, err
	}
	others := s.others(ctx, id)
	err := s.update(ctx, id, func(u *operation.LineUpdate) error {
		h, err := s.load(ctx, id)
		if err != nil {
			return err
		}
		made, err := s.load(ctx, newID)
		switch {
		case err == nil && made.Fork != nil && made.Fork.Session == id && made.Fork.Message == message:
			return nil
		case err == nil:
			return fmt.Errorf("session: %w: session %q", cairn.ErrExists, newID)
		case !errors.Is(err, ErrNotFound):
			return err
		}
		return s.fork(ctx, u, h, message, newID)
	})
	if err != nil {
		return nil, err
	}
	return s.with(ctx, newID, s.forkElsewhere(ctx, others, id, message, newID))
}

func (s *Sessions) fork(ctx context.Context, u *operation.LineUpdate, h *history, message, newID string) error {
	active, err := s.active(ctx, h)
	if err != nil {
		return err
	}
	cut, at, err := h.forkPoint(active, message)
	if err != nil {
		return err
	}
	begun := event{Kind: kindFork, Message: cut}
	if last := newest(active); last != nil && message == "" {
		begun.Undone = last.Undone
	}
	all, err := s.digests(ctx)
	if err != nil {
		return err
	}
	n := 1
	for _, d := range all {
		if d.Fork != nil && d.Fork.Session == h.ID {
			n++
		}
	}
	source := h.ID
	if h.from != nil {
		begun.Root, h.from, h.Further = h.from.Root, nil, nil // the fork is one of this store, and of this root alone
	}
	s.add(h, begun) // while it is still the source
	h.digest = digest{
		ID: newID, Title: h.Title, First: h.firstPrompt(), Meta: h.Meta, Further: h.Further,
		Created: s.now(h), Fork: &ForkPoint{Session: source, Message: message, Checkpoint: at},
		At: h.At,
	}
	if h.Title != "" {
		h.Title += fmt.Sprintf(" (fork #%d)", n)
	}
	return s.append(ctx, u, h, operation.LineAppend{Message: "fork of session " + name(source), Parent: at, State: at})
}

// forkPoint finds the first message that is not shared and the checkpoint of the
// state before it: that with which the message began, or the nearest one before.
func (h *history) forkPoint(active []*boundary, message string) (cut, checkpoint string, err error) {
	if message != "" {
		m := h.message(message)
		switch {
		case m != nil:
			return message, m.begun.id, nil
		case h.truncated:
			return "", "", fmt.Errorf("%w: message %q of session %q is not there any more, and the beginning of the session has been cleaned away", ErrExpired, message, h.ID)
		}
		return "", "", notFound("message %q of session %q", message, h.ID)
	}
	last := newest(active)
	if at := h.position(last); last != nil && at >= 0 && at < len(h.messages) {
		return h.messages[at].ID, cmp.Or(h.beforePart(last), h.messages[at].begun.id), nil
	}
	return "", h.tip, nil
}

// beforePart returns the checkpoint before the first step that a boundary takes out of its message, "" where it takes
// none or lies between two messages.
func (h *history) beforePart(b *boundary) string {
	if m := h.message(b.Message); m != nil && b.Part != "" {
		for _, st := range m.steps {
			if slices.Contains(b.Undone, stepRef{h.ID, st.ID}) {
				return st.Before.ID
			}
		}
	}
	return ""
}
