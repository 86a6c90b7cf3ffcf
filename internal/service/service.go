// Package service puts hooks around the calls of sessions: a server sends events, a client asks a
// server first.
package service

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Sessions is what hosts and people do with the sessions of a root. [session.Sessions] does it in
// the store itself; [Through] makes one whose calls pass a Hook.
type Sessions interface {
	Begin(ctx context.Context, b session.SessionBegin) (*session.Session, error)
	AddMessage(ctx context.Context, m session.MessageBegin) (*session.Message, error)
	BeginStep(ctx context.Context, b session.StepBegin) (*session.Step, error)
	Hint(ctx context.Context, session, step string, paths []string) error
	EndStep(ctx context.Context, e session.StepEnd) (*session.Step, error)
	RecordBetween(ctx context.Context, b session.StepBetween) (*session.Step, error)

	Brief(ctx context.Context, id string) (*session.Session, error)
	TakeNews(ctx context.Context, id string) (*session.News, error)

	Get(ctx context.Context, id string) (*session.Session, error)
	History(ctx context.Context, id string) ([]session.Message, error)
	Diff(ctx context.Context, id string, in session.Scope, opt cairn.DiffOptions) iter.Seq2[*cairn.FileDiff, error]

	RevertHunks(ctx context.Context, id string, in session.Scope, opt cairn.RevertOptions) (*cairn.Result, error)
	RevertSteps(ctx context.Context, id string, steps []string, opt cairn.RevertOptions) (*cairn.Result, error)
	UnrevertSome(ctx context.Context, id string, opt cairn.RevertOptions) (*cairn.Result, error)
	Revert(ctx context.Context, id string, to session.Target, opt session.MoveOptions) (*session.Session, *cairn.Result, error)
	Unrevert(ctx context.Context, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error)
	UndoTurn(ctx context.Context, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error)
	RedoTurn(ctx context.Context, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error)
	Commit(ctx context.Context, id string) (*session.Session, error)
	Fork(ctx context.Context, id, message, newID string) (*session.Session, error)
	Delete(ctx context.Context, id string) error
}

var _ Sessions = (*session.Sessions)(nil)

// RequestKind tells the calls of Sessions apart.
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
	RequestRead      RequestKind = "read"       // Get (One), Brief (BriefOne), History and Diff: changes nothing
	RequestNews      RequestKind = "news"       // TakeNews: *News
	RequestHunks     RequestKind = "hunks"      // RevertHunks, RevertSteps and UnrevertSome: *cairn.Result
	RequestMove      RequestKind = "move"       // Revert, Unrevert, UndoTurn and RedoTurn: Move
	RequestCommit    RequestKind = "commit"     // *Session
	RequestFork      RequestKind = "fork"       // *Session, which is the new one
	RequestDelete    RequestKind = "delete"     // nil
)

// ChangesFiles reports whether the call may change files of the root.
func (r *Request) ChangesFiles() bool { return r.Kind == RequestMove || r.Kind == RequestHunks }

// Records reports whether the call is one of a host that records: it begins, notes or ends something, or reads the
// news or the state of a session.
func (r *Request) Records() bool {
	switch r.Kind {
	case RequestBegin, RequestMessage, RequestBeginStep, RequestHint, RequestEndStep, RequestNews:
		return true
	case RequestRead:
		return r.In != nil // Get or Brief
	}
	return false
}

// Request describes one call of Sessions.
type Request struct {
	Kind    RequestKind
	Session string // id
	DryRun  bool   // of RequestHunks and RequestMove: no file changes
	In      any
}

// One is what Get is called with: the id of a session.
type One string

// BriefOne is what Brief is called with: the id of a session.
type BriefOne string

// StepHint is what Hint is called with.
type StepHint struct {
	Session, Step string
	Paths         []string
}

// Move is the outcome of a call that goes back or forth.
type Move struct {
	Session *session.Session
	Result  *cairn.Result
}

// Next makes a call in Sessions and returns its outcome.
type Next func(context.Context, Sessions) (any, error)

// Hook stands around a call. It calls next, in Sessions and with the context of its
// choice, or makes up the outcome itself. What it does before next and after it is its
// own business: take a lock, wait, ask a server, tell others.
type Hook func(ctx context.Context, r Request, next Next) (any, error)

// Through returns Sessions whose calls pass the hook.
func Through(hook Hook) Sessions { return through(hook) }

type through Hook

// pass makes a call whose outcome is a T. A hook that returns something else gives the
// zero value.
func pass[T any](ctx context.Context, hook through, r Request, f func(context.Context, Sessions) (T, error)) (T, error) {
	out, err := hook(ctx, r, func(ctx context.Context, s Sessions) (any, error) { return f(ctx, s) })
	t, _ := out.(T)
	return t, err
}

// move is pass for calls that go back or forth.
func (h through) move(
	ctx context.Context, id string, opt session.MoveOptions,
	f func(context.Context, Sessions) (*session.Session, *cairn.Result, error),
) (*session.Session, *cairn.Result, error) {
	m, err := pass(ctx, h, Request{Kind: RequestMove, Session: id, DryRun: opt.DryRun}, func(ctx context.Context, s Sessions) (m Move, err error) {
		m.Session, m.Result, err = f(ctx, s)
		return m, err
	})
	return m.Session, m.Result, err
}

func (h through) Begin(ctx context.Context, b session.SessionBegin) (*session.Session, error) {
	return pass(ctx, h, Request{Kind: RequestBegin, Session: b.ID, In: b}, func(ctx context.Context, s Sessions) (*session.Session, error) { return s.Begin(ctx, b) })
}

func (h through) AddMessage(ctx context.Context, m session.MessageBegin) (*session.Message, error) {
	return pass(ctx, h, Request{Kind: RequestMessage, Session: m.Session, In: m}, func(ctx context.Context, s Sessions) (*session.Message, error) { return s.AddMessage(ctx, m) })
}

func (h through) BeginStep(ctx context.Context, b session.StepBegin) (*session.Step, error) {
	return pass(ctx, h, Request{Kind: RequestBeginStep, Session: b.Session, In: b}, func(ctx context.Context, s Sessions) (*session.Step, error) { return s.BeginStep(ctx, b) })
}

func (h through) Hint(ctx context.Context, session, step string, paths []string) error {
	in := StepHint{session, step, paths}
	_, err := h(ctx, Request{Kind: RequestHint, Session: session, In: in}, func(ctx context.Context, s Sessions) (any, error) {
		return nil, s.Hint(ctx, session, step, paths)
	})
	return err
}

func (h through) EndStep(ctx context.Context, e session.StepEnd) (*session.Step, error) {
	return pass(ctx, h, Request{Kind: RequestEndStep, Session: e.Session, In: e}, func(ctx context.Context, s Sessions) (*session.Step, error) { return s.EndStep(ctx, e) })
}

func (h through) RecordBetween(ctx context.Context, b session.StepBetween) (*session.Step, error) {
	return pass(ctx, h, Request{Kind: RequestBetween, Session: b.Session, In: b}, func(ctx context.Context, s Sessions) (*session.Step, error) { return s.RecordBetween(ctx, b) })
}

func (h through) TakeNews(ctx context.Context, id string) (*session.News, error) {
	return pass(ctx, h, Request{Kind: RequestNews, Session: id}, func(ctx context.Context, s Sessions) (*session.News, error) { return s.TakeNews(ctx, id) })
}

func (h through) Get(ctx context.Context, id string) (*session.Session, error) {
	return pass(ctx, h, Request{Kind: RequestRead, Session: id, In: One(id)}, func(ctx context.Context, s Sessions) (*session.Session, error) { return s.Get(ctx, id) })
}

func (h through) Brief(ctx context.Context, id string) (*session.Session, error) {
	return pass(ctx, h, Request{Kind: RequestRead, Session: id, In: BriefOne(id)}, func(ctx context.Context, s Sessions) (*session.Session, error) { return s.Brief(ctx, id) })
}

func (h through) History(ctx context.Context, id string) ([]session.Message, error) {
	return pass(ctx, h, Request{Kind: RequestRead, Session: id}, func(ctx context.Context, s Sessions) ([]session.Message, error) { return s.History(ctx, id) })
}

func (h through) Diff(ctx context.Context, id string, in session.Scope, opt cairn.DiffOptions) iter.Seq2[*cairn.FileDiff, error] {
	diffs, err := pass(ctx, h, Request{Kind: RequestRead, Session: id}, func(ctx context.Context, s Sessions) (iter.Seq2[*cairn.FileDiff, error], error) {
		return s.Diff(ctx, id, in, opt), nil
	})
	if err != nil {
		return func(yield func(*cairn.FileDiff, error) bool) { yield(nil, err) }
	}
	return diffs
}

func (h through) RevertHunks(ctx context.Context, id string, in session.Scope, opt cairn.RevertOptions) (*cairn.Result, error) {
	return pass(ctx, h, Request{Kind: RequestHunks, Session: id, DryRun: opt.DryRun}, func(ctx context.Context, s Sessions) (*cairn.Result, error) {
		return s.RevertHunks(ctx, id, in, opt)
	})
}

func (h through) RevertSteps(ctx context.Context, id string, steps []string, opt cairn.RevertOptions) (*cairn.Result, error) {
	return pass(ctx, h, Request{Kind: RequestHunks, Session: id, DryRun: opt.DryRun}, func(ctx context.Context, s Sessions) (*cairn.Result, error) {
		return s.RevertSteps(ctx, id, steps, opt)
	})
}

func (h through) UnrevertSome(ctx context.Context, id string, opt cairn.RevertOptions) (*cairn.Result, error) {
	return pass(ctx, h, Request{Kind: RequestHunks, Session: id, DryRun: opt.DryRun}, func(ctx context.Context, s Sessions) (*cairn.Result, error) {
		return s.UnrevertSome(ctx, id, opt)
	})
}

func (h through) Revert(
	ctx context.Context, id string, to session.Target, opt session.MoveOptions,
) (*session.Session, *cairn.Result, error) {
	return h.move(ctx, id, opt, func(ctx context.Context, s Sessions) (*session.Session, *cairn.Result, error) {
		return s.Revert(ctx, id, to, opt)
	})
}

func (h through) Unrevert(ctx context.Context, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
	return h.move(ctx, id, opt, func(ctx context.Context, s Sessions) (*session.Session, *cairn.Result, error) {
		return s.Unrevert(ctx, id, opt)
	})
}

func (h through) UndoTurn(ctx context.Context, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
	return h.move(ctx, id, opt, func(ctx context.Context, s Sessions) (*session.Session, *cairn.Result, error) {
		return s.UndoTurn(ctx, id, opt)
	})
}

func (h through) RedoTurn(ctx context.Context, id string, opt session.MoveOptions) (*session.Session, *cairn.Result, error) {
	return h.move(ctx, id, opt, func(ctx context.Context, s Sessions) (*session.Session, *cairn.Result, error) {
		return s.RedoTurn(ctx, id, opt)
	})
}

func (h through) Commit(ctx context.Context, id string) (*session.Session, error) {
	return pass(ctx, h, Request{Kind: RequestCommit, Session: id}, func(ctx context.Context, s Sessions) (*session.Session, error) { return s.Commit(ctx, id) })
}

func (h through) Fork(ctx context.Context, id, message, newID string) (*session.Session, error) {
	return pass(ctx, h, Request{Kind: RequestFork, Session: id}, func(ctx context.Context, s Sessions) (*session.Session, error) {
		return s.Fork(ctx, id, message, newID)
	})
}

func (h through) Delete(ctx context.Context, id string) error {
	_, err := h(ctx, Request{Kind: RequestDelete, Session: id}, func(ctx context.Context, s Sessions) (any, error) { return nil, s.Delete(ctx, id) })
	return err
}
