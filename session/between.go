package session

import (
	"cmp"
	"context"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// StepBetween describes a step for the changes since the newest state of a session that no tool of
// the session brackets: a command that it left running may have made them. The message is begun if
// it is new. The step is a turn of its own, so UndoTurn takes it back alone.
type StepBetween struct {
	Session, Message, Prompt string
	Meta                     map[string]string // of the message

	// Pending leaves the session as it is while a revert is in effect. Otherwise the step
	// makes the revert final, as every step does.
	Pending bool

	step string // id of the step, the same in all roots; "" = a name that is made up
}

// RecordBetween records such a step. It returns nil if nothing changed, if a step is open, to which
// the changes belong, or if the session has not begun.
func (s *Sessions) RecordBetween(ctx context.Context, b StepBetween) (*Step, error) {
	if err := checkID("id of the session", b.Session); err != nil {
		return nil, err
	}
	if err := checkID("id of the message", b.Message); err != nil {
		return nil, err
	}
	if err := checkMeta(b.Meta); err != nil {
		return nil, err
	}
	others := s.others(ctx, b.Session)
	b.step = cmp.Or(b.step, s.unusedStep(ctx, b.Session, others))
	var made *Step
	err := s.update(ctx, b.Session, func(u *operation.LineUpdate) (err error) {
		made, err = s.between(ctx, u, &b)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.betweenElsewhere(ctx, &b, others, made)
}

func (s *Sessions) between(ctx context.Context, u *operation.LineUpdate, b *StepBetween) (*Step, error) {
	h, isNew, err := s.loadOrNew(ctx, b.Session)
	if err != nil || isNew || h.openStep() != nil || h.dead != nil {
		return nil, err
	}
	if active, err := s.active(ctx, h); err != nil || b.Pending && len(active) > 0 {
		return nil, err
	}
	from, err := s.withTime(ctx, h.last)
	if err != nil {
		return nil, err
	}
	list, err := u.Changes(ctx, from.ID, nil)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	if err := s.commitRevert(ctx, h); err != nil {
		return nil, err
	}
	if h.message(b.Message) == nil {
		s.add(h, event{Kind: kindMessage, Message: b.Message, Role: RoleUser, Prompt: s.said(b.Prompt), Meta: b.Meta})
	}
	_, id := h.names(&StepBegin{Message: b.Message, Step: b.step})
	s.add(h, event{Kind: kindStep, Message: b.Message, Step: id, Meta: b.Meta, Owner: thisProcess(), State: &from})
	end := event{Kind: kindEnd, Step: id}
	end.tells(s, list)
	s.add(h, end)
	a := operation.LineAppend{
		Message: fmt.Sprintf("step %s: %s", name(id), wording.Count(len(list), "file")),
		Author:  AuthorAgent, Capture: true,
	}
	if err := s.append(ctx, u, h, a); err != nil {
		return nil, err
	}
	return s.stepNow(ctx, h.ID, id)
}
