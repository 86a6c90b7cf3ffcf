package session

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn"
)

// Service is what hosts and people do with the sessions of a root. [Sessions] does it in
// the store itself; [Through] makes a Service whose calls pass a Hook.
type Service interface {
	Begin(ctx context.Context, b SessionBegin) (*Session, error)
	AddMessage(ctx context.Context, m MessageBegin) (*Message, error)
	BeginStep(ctx context.Context, b StepBegin) (*Step, error)
	Hint(ctx context.Context, session, step string, paths []string) error
	EndStep(ctx context.Context, e StepEnd) (*Step, error)
	RecordBetween(ctx context.Context, b StepBetween) (*Step, error)

	Get(ctx context.Context, id string) (*Session, error)
	History(ctx context.Context, id string) ([]Message, error)
	Diff(ctx context.Context, id string, in Scope) iter.Seq2[*cairn.FileDiff, error]

	Revert(ctx context.Context, id string, to Target, opt MoveOptions) (*Session, *cairn.Result, error)
	Unrevert(ctx context.Context, id string, opt MoveOptions) (*Session, *cairn.Result, error)
	UndoTurn(ctx context.Context, id string, opt MoveOptions) (*Session, *cairn.Result, error)
	RedoTurn(ctx context.Context, id string, opt MoveOptions) (*Session, *cairn.Result, error)
	Commit(ctx context.Context, id string) (*Session, error)
	Fork(ctx context.Context, id, message, newID string) (*Session, error)
	Delete(ctx context.Context, id string) error
}

var _ Service = (*Sessions)(nil)

// RequestKind tells the calls of a Service apart.
type RequestKind string

// The kinds of calls. A comment names the type of Request.In, where it is not nil, and
// then that of the outcome.
const (
	RequestBegin     RequestKind = "begin"      // SessionBegin, *Session
	RequestMessage   RequestKind = "message"    // MessageBegin, *Message
	RequestBeginStep RequestKind = "begin-step" // StepBegin, *Step
	RequestHint      RequestKind = "hint"       // StepHint, nil
	RequestEndStep   RequestKind = "end-step"   // StepEnd, *Step
	RequestBetween   RequestKind = "between"    // StepBetween, *Step
	RequestRead      RequestKind = "read"       // Get, History and Diff: changes nothing
	RequestMove      RequestKind = "move"       // Revert, Unrevert, UndoTurn and RedoTurn: Move
	RequestCommit    RequestKind = "commit"     // *Session
	RequestFork      RequestKind = "fork"       // *Session, which is the new one
	RequestDelete    RequestKind = "delete"     // nil
)

// Request describes one call of a Service.
type Request struct {
	Kind    RequestKind
	Session string // id
	DryRun  bool   // of RequestMove: no file changes
	In      any
}

// StepHint is what Hint is called with.
type StepHint struct {
	Session, Step string
	Paths         []string
}

// Move is the outcome of a call that goes back or forth.
type Move struct {
	Session *Session
	Result  *cairn.Result
}

// Next makes a call in a Service and returns its outcome.
type Next func(context.Context, Service) (any, error)

// Hook stands around a call. It calls next, in the Service and with the context of its
// choice, or makes up the outcome itself. What it does before next and after it is its
// own business: take a lock, wait, ask a server, tell others.
type Hook func(ctx context.Context, r Request, next Next) (any, error)

// Through returns a Service whose calls pass the hook.
func Through(hook Hook) Service { return through(hook) }

type through Hook

// pass makes a call whose outcome is a T. A hook that returns something else gives the
// zero value.
func pass[T any](ctx context.Context, hook through, r Request, f func(context.Context, Service) (T, error)) (T, error) {
	out, err := hook(ctx, r, func(ctx context.Context, s Service) (any, error) { return f(ctx, s) })
	t, _ := out.(T)
	return t, err
}

// move is pass for calls that go back or forth.
func (h through) move(ctx context.Context, id string, opt MoveOptions, f func(context.Context, Service) (*Session, *cairn.Result, error)) (*Session, *cairn.Result, error) {
	m, err := pass(ctx, h, Request{Kind: RequestMove, Session: id, DryRun: opt.DryRun}, func(ctx context.Context, s Service) (m Move, err error) {
		m.Session, m.Result, err = f(ctx, s)
		return m, err
	})
	return m.Session, m.Result, err
}

func (h through) Begin(ctx context.Context, b SessionBegin) (*Session, error) {
	return pass(ctx, h, Request{Kind: RequestBegin, Session: b.ID, In: b}, func(ctx context.Context, s Service) (*Session, error) { return s.Begin(ctx, b) })
}

func (h through) AddMessage(ctx context.Context, m MessageBegin) (*Message, error) {
	return pass(ctx, h, Request{Kind: RequestMessage, Session: m.Session, In: m}, func(ctx context.Context, s Service) (*Message, error) { return s.AddMessage(ctx, m) })
}

func (h through) BeginStep(ctx context.Context, b StepBegin) (*Step, error) {
	return pass(ctx, h, Request{Kind: RequestBeginStep, Session: b.Session, In: b}, func(ctx context.Context, s Service) (*Step, error) { return s.BeginStep(ctx, b) })
}

func (h through) Hint(ctx context.Context, session, step string, paths []string) error {
	in := StepHint{session, step, paths}
	_, err := h(ctx, Request{Kind: RequestHint, Session: session, In: in}, func(ctx context.Context, s Service) (any, error) {
		return nil, s.Hint(ctx, session, step, paths)
	})
	return err
}

func (h through) EndStep(ctx context.Context, e StepEnd) (*Step, error) {
	return pass(ctx, h, Request{Kind: RequestEndStep, Session: e.Session, In: e}, func(ctx context.Context, s Service) (*Step, error) { return s.EndStep(ctx, e) })
}

func (h through) RecordBetween(ctx context.Context, b StepBetween) (*Step, error) {
	return pass(ctx, h, Request{Kind: RequestBetween, Session: b.Session, In: b}, func(ctx context.Context, s Service) (*Step, error) { return s.RecordBetween(ctx, b) })
}

func (h through) Get(ctx context.Context, id string) (*Session, error) {
	return pass(ctx, h, Request{Kind: RequestRead, Session: id}, func(ctx context.Context, s Service) (*Session, error) { return s.Get(ctx, id) })
}

func (h through) History(ctx context.Context, id string) ([]Message, error) {
	return pass(ctx, h, Request{Kind: RequestRead, Session: id}, func(ctx context.Context, s Service) ([]Message, error) { return s.History(ctx, id) })
}

func (h through) Diff(ctx context.Context, id string, in Scope) iter.Seq2[*cairn.FileDiff, error] {
	diffs, err := pass(ctx, h, Request{Kind: RequestRead, Session: id}, func(ctx context.Context, s Service) (iter.Seq2[*cairn.FileDiff, error], error) {
		return s.Diff(ctx, id, in), nil
	})
	if err != nil {
		return func(yield func(*cairn.FileDiff, error) bool) { yield(nil, err) }
	}
	return diffs
}

func (h through) Revert(ctx context.Context, id string, to Target, opt MoveOptions) (*Session, *cairn.Result, error) {
	return h.move(ctx, id, opt, func(ctx context.Context, s Service) (*Session, *cairn.Result, error) {
		return s.Revert(ctx, id, to, opt)
	})
}

func (h through) Unrevert(ctx context.Context, id string, opt MoveOptions) (*Session, *cairn.Result, error) {
	return h.move(ctx, id, opt, func(ctx context.Context, s Service) (*Session, *cairn.Result, error) { return s.Unrevert(ctx, id, opt) })
}

func (h through) UndoTurn(ctx context.Context, id string, opt MoveOptions) (*Session, *cairn.Result, error) {
	return h.move(ctx, id, opt, func(ctx context.Context, s Service) (*Session, *cairn.Result, error) { return s.UndoTurn(ctx, id, opt) })
}

func (h through) RedoTurn(ctx context.Context, id string, opt MoveOptions) (*Session, *cairn.Result, error) {
	return h.move(ctx, id, opt, func(ctx context.Context, s Service) (*Session, *cairn.Result, error) { return s.RedoTurn(ctx, id, opt) })
}

func (h through) Commit(ctx context.Context, id string) (*Session, error) {
	return pass(ctx, h, Request{Kind: RequestCommit, Session: id}, func(ctx context.Context, s Service) (*Session, error) { return s.Commit(ctx, id) })
}

func (h through) Fork(ctx context.Context, id, message, newID string) (*Session, error) {
	return pass(ctx, h, Request{Kind: RequestFork, Session: id}, func(ctx context.Context, s Service) (*Session, error) { return s.Fork(ctx, id, message, newID) })
}

func (h through) Delete(ctx context.Context, id string) error {
	_, err := h(ctx, Request{Kind: RequestDelete, Session: id}, func(ctx context.Context, s Service) (any, error) { return nil, s.Delete(ctx, id) })
	return err
}
