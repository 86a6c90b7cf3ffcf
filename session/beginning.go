package session

import (
	"context"
	"errors"

	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// PendingStep is a step whose state before is being captured; see BeginStepAsync.
type PendingStep struct {
	done chan struct{}
	step *Step
	err  error
}

// BeginStepAsync is BeginStep for a host that has other work meanwhile, such as waiting for the
// model. It checks b, and the capture runs in a goroutine until ctx ends. The captured state is one
// between this call and the end of the goroutine. A tool that may write must not run before Wait
// has returned without an error: its writes could become part of the state before.
//
// Other changes to the session through these Sessions wait until the step has begun. Other Sessions
// and other processes do not know of the beginning.
func (s *Sessions) BeginStepAsync(ctx context.Context, b StepBegin) (*PendingStep, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	out := &PendingStep{done: make(chan struct{})}
	s.mu.Lock()
	before := s.beginnings[b.Session]
	if s.beginnings == nil {
		s.beginnings = make(map[string]*PendingStep)
	}
	s.beginnings[b.Session] = out
	s.mu.Unlock()
	go func() {
		defer close(out.done)
		if out.err = before.wait(ctx); out.err == nil {
			out.step, out.err = s.beginInAll(ctx, b)
		}
		if out.err == nil {
			s.forget(b.Session, out)
		}
	}()
	return out, nil
}

// Done is closed when the step has begun, or has failed to begin.
func (b *PendingStep) Done() <-chan struct{} { return b.done }

// Wait returns the result of BeginStep. If ctx ends first, it returns the error of ctx, and the
// capture goes on.
func (b *PendingStep) Wait(ctx context.Context) (*Step, error) {
	if err := b.wait(ctx); err != nil {
		return nil, err
	}
	return b.step, b.err
}

// wait waits for the beginning to end and ignores its error.
func (b *PendingStep) wait(ctx context.Context) error {
	if b == nil {
		return nil
	}
	select {
	case <-b.done:
		return nil
	default:
	}
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Sessions) forget(id string, b *PendingStep) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.beginnings[id] == b {
		delete(s.beginnings, id)
	}
}

// forgetFailed removes the session's beginning if it has failed.
func (s *Sessions) forgetFailed(id string) {
	s.mu.Lock()
	b := s.beginnings[id]
	s.mu.Unlock()
	if b == nil {
		return
	}
	select {
	case <-b.done:
		s.forget(id, b)
	default:
	}
}

// wait waits for the step of a session that is about to begin.
func (s *Sessions) wait(ctx context.Context, id string) error {
	s.mu.Lock()
	b := s.beginnings[id]
	s.mu.Unlock()
	return b.wait(ctx)
}

// update changes the line of a session, after a beginning that was asked for earlier.
func (s *Sessions) update(ctx context.Context, id string, f func(*operation.LineUpdate) error) error {
	if err := s.wait(ctx, id); err != nil {
		return err
	}
	return s.lines.Update(ctx, f)
}

// updateFamily is update for a change that concerns children and parents, too: a way back, or a removal.
func (s *Sessions) updateFamily(ctx context.Context, f func(*operation.LineUpdate) error) error {
	s.mu.Lock()
	var all []*PendingStep
	for _, b := range s.beginnings {
		all = append(all, b)
	}
	s.mu.Unlock()
	for _, b := range all {
		if err := b.wait(ctx); err != nil {
			return err
		}
	}
	return s.lines.Update(ctx, func(u *operation.LineUpdate) error {
		u.GoBack()
		return f(u)
	})
}

// withBeginning adds to an error about a missing step the reason why the newest step has not begun.
func (s *Sessions) withBeginning(id string, err error) error {
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	s.mu.Lock()
	b := s.beginnings[id]
	s.mu.Unlock()
	if b == nil {
		return err
	}
	select {
	case <-b.done:
		return errors.Join(err, b.err)
	default:
		return err
	}
}
