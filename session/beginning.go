package session

import (
	"context"
	"errors"

	"github.com/seed-fb9cbc17/cairn"
)

// Beginning is a step whose state before is being captured, see BeginStepAsync.
type Beginning struct {
	done chan struct{}
	step *Step
	err  error
}

// BeginStepAsync is BeginStep for a host that has something better to do meanwhile,
// such as waiting for the model: it checks b, and the capture goes on in a goroutine
// until ctx ends. The state that it takes is one between this call and the end of the
// goroutine. So a tool that may write must not run before Wait has returned without
// an error: what it wrote could be part of the state before.
//
// Whatever else these Sessions are told to change in the session waits by itself until
// the step has begun. Other Sessions and other processes do not know of it.
func (s *Sessions) BeginStepAsync(ctx context.Context, b StepBegin) (*Beginning, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	out := &Beginning{done: make(chan struct{})}
	s.mu.Lock()
	before := s.beginnings[b.Session]
	if s.beginnings == nil {
		s.beginnings = make(map[string]*Beginning)
	}
	s.beginnings[b.Session] = out
	s.mu.Unlock()
	go func() {
		defer close(out.done)
		if out.err = before.wait(ctx); out.err == nil {
			out.step, out.err = s.captureBefore(ctx, b)
		}
		if out.err == nil {
			s.forget(b.Session, out)
		}
	}()
	return out, nil
}

// Done is closed when the step has begun, or has failed to.
func (b *Beginning) Done() <-chan struct{} { return b.done }

// Wait returns the step as BeginStep would have. When ctx ends before, it returns the
// error of ctx, and the capture goes on.
func (b *Beginning) Wait(ctx context.Context) (*Step, error) {
	if err := b.wait(ctx); err != nil {
		return nil, err
	}
	return b.step, b.err
}

// wait waits for the end, whatever that is.
func (b *Beginning) wait(ctx context.Context) error {
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

func (s *Sessions) forget(id string, b *Beginning) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.beginnings[id] == b {
		delete(s.beginnings, id)
	}
}

// forgetFailed forgets a beginning that has failed, when another one has not.
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

// update changes the line of a session, after the beginning of a step that was asked
// for before.
func (s *Sessions) update(ctx context.Context, id string, f func(*cairn.LineUpdate) error) error {
	if err := s.wait(ctx, id); err != nil {
		return err
	}
	return s.repo.UpdateLines(ctx, f)
}

// updateFamily is update for what concerns children and parents, too.
func (s *Sessions) updateFamily(ctx context.Context, f func(*cairn.LineUpdate) error) error {
	s.mu.Lock()
	var all []*Beginning
	for _, b := range s.beginnings {
		all = append(all, b)
	}
	s.mu.Unlock()
	for _, b := range all {
		if err := b.wait(ctx); err != nil {
			return err
		}
	}
	return s.repo.UpdateLines(ctx, f)
}

// withBeginning adds to an error about a step that does not exist why the newest one
// has not begun.
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
