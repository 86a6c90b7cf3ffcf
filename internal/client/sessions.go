package client

import (
	"context"
	"errors"
	"iter"
	"net/url"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/session"
)

// Sessions are session.Sessions whose steps a server records where there is one. The
// store is opened only when it has to be.
type Sessions struct {
	client *Client
	local  func() (*session.Sessions, error)
}

// NewSessions returns sessions; local opens the store, or returns what it has opened
// before. Without a client everything is done here.
func NewSessions(c *Client, local func() (*session.Sessions, error)) *Sessions {
	return &Sessions{c, local}
}

// here does something without a server.
func here[T any](s *Sessions, f func(*session.Sessions) (T, error)) (T, error) {
	local, err := s.local()
	if err != nil {
		var zero T
		return zero, err
	}
	return f(local)
}

// there lets the server do something if there is one.
func there[T any](ctx context.Context, s *Sessions, path string, in any, f func(*session.Sessions) (*T, error)) (*T, error) {
	if s.client != nil {
		out := new(T)
		if err := s.client.Call(ctx, path, in, out); !errors.Is(err, ErrNoServer) {
			if err != nil {
				return nil, err
			}
			return out, nil
		}
	}
	return here(s, f)
}

func sessionPath(id, rest string) string { return "/session/" + url.PathEscape(id) + rest }

// plain says whether an id can be part of a path. One of dots alone would be taken for
// a directory.
func plain(id string) bool { return id != "" && id != "." && id != ".." }

// Begin is session.Sessions.Begin.
func (s *Sessions) Begin(ctx context.Context, b session.Begin) (*session.Session, error) {
	in := map[string]any{"id": b.ID, "parentID": b.Parent, "title": b.Title, "meta": meta(b.Meta)}
	return there(ctx, s, "/sessions", in, func(l *session.Sessions) (*session.Session, error) { return l.Begin(ctx, b) })
}

func meta(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// AddMessage is session.Sessions.AddMessage.
func (s *Sessions) AddMessage(ctx context.Context, m session.MessageBegin) (*session.Message, error) {
	f := func(l *session.Sessions) (*session.Message, error) { return l.AddMessage(ctx, m) }
	if !plain(m.Session) {
		return here(s, f)
	}
	return there(ctx, s, sessionPath(m.Session, "/messages"), map[string]any{
		"messageID": m.Message, "role": m.Role, "prompt": m.Prompt, "parts": list(m.Parts), "meta": meta(m.Meta),
	}, f)
}

func list[T any](l []T) []T { return append([]T{}, l...) }

// BeginStep is session.Sessions.BeginStep.
func (s *Sessions) BeginStep(ctx context.Context, b session.StepBegin) (*session.Step, error) {
	f := func(l *session.Sessions) (*session.Step, error) { return l.BeginStep(ctx, b) }
	if !plain(b.Session) {
		return here(s, f)
	}
	in := map[string]any{
		"messageID": b.Message, "role": b.Role, "stepID": b.Step, "prompt": b.Prompt, "paths": list(encode(b.Paths)), "meta": meta(b.Meta),
	}
	if o := b.Owner; o != nil {
		in["processes"] = list(o.Processes)
		if seconds := int64(o.Lease / time.Second); seconds > 0 {
			in["leaseSeconds"] = seconds
		}
	}
	return there(ctx, s, sessionPath(b.Session, "/steps"), in, f)
}

// Hint is session.Sessions.Hint.
func (s *Sessions) Hint(ctx context.Context, id, step string, paths []string) error {
	f := func(l *session.Sessions) (*struct{}, error) { return nil, l.Hint(ctx, id, step, paths) }
	if !plain(id) || !plain(step) {
		_, err := here(s, f)
		return err
	}
	_, err := there(ctx, s, sessionPath(id, "/steps/")+url.PathEscape(step)+"/hint", map[string]any{"paths": list(encode(paths))}, f)
	return err
}

// EndStep is session.Sessions.EndStep.
func (s *Sessions) EndStep(ctx context.Context, e session.StepEnd) (*session.Step, error) {
	f := func(l *session.Sessions) (*session.Step, error) { return l.EndStep(ctx, e) }
	if !plain(e.Session) || !plain(e.Step) {
		return here(s, f)
	}
	return there(ctx, s, sessionPath(e.Session, "/steps/")+url.PathEscape(e.Step)+"/end", map[string]any{
		"parts": list(e.Parts), "paths": list(encode(e.Paths)), "gone": e.Gone,
	}, f)
}

// The rest is rare, and done here.

// RecordBetween is session.Sessions.RecordBetween.
func (s *Sessions) RecordBetween(ctx context.Context, b session.Between) (*session.Step, error) {
	return here(s, func(l *session.Sessions) (*session.Step, error) { return l.RecordBetween(ctx, b) })
}

// Get is session.Sessions.Get.
func (s *Sessions) Get(ctx context.Context, id string) (*session.Session, error) {
	return here(s, func(l *session.Sessions) (*session.Session, error) { return l.Get(ctx, id) })
}

// History is session.Sessions.History.
func (s *Sessions) History(ctx context.Context, id string) ([]session.Message, error) {
	return here(s, func(l *session.Sessions) ([]session.Message, error) { return l.History(ctx, id) })
}

// Diff is session.Sessions.Diff.
func (s *Sessions) Diff(ctx context.Context, id string, in session.Scope) iter.Seq2[*cairn.FileDiff, error] {
	local, err := s.local()
	if err != nil {
		return func(yield func(*cairn.FileDiff, error) bool) { yield(nil, err) }
	}
	return local.Diff(ctx, id, in)
}

// went is what going back gives.
type went struct {
	session *session.Session
	result  *cairn.Result
}

func (s *Sessions) back(f func(*session.Sessions) (*session.Session, *cairn.Result, error)) (*session.Session, *cairn.Result, error) {
	w, err := here(s, func(l *session.Sessions) (w went, err error) {
		w.session, w.result, err = f(l)
		return w, err
	})
	return w.session, w.result, err
}

// Revert is session.Sessions.Revert.
func (s *Sessions) Revert(ctx context.Context, id string, to session.Target, opt session.RevertOptions) (*session.Session, *cairn.Result, error) {
	return s.back(func(l *session.Sessions) (*session.Session, *cairn.Result, error) { return l.Revert(ctx, id, to, opt) })
}

// Unrevert is session.Sessions.Unrevert.
func (s *Sessions) Unrevert(ctx context.Context, id string, opt session.RevertOptions) (*session.Session, *cairn.Result, error) {
	return s.back(func(l *session.Sessions) (*session.Session, *cairn.Result, error) { return l.Unrevert(ctx, id, opt) })
}

// UndoStep is session.Sessions.UndoStep.
func (s *Sessions) UndoStep(ctx context.Context, id string, opt session.RevertOptions) (*session.Session, *cairn.Result, error) {
	return s.back(func(l *session.Sessions) (*session.Session, *cairn.Result, error) { return l.UndoStep(ctx, id, opt) })
}

// RedoStep is session.Sessions.RedoStep.
func (s *Sessions) RedoStep(ctx context.Context, id string, opt session.RevertOptions) (*session.Session, *cairn.Result, error) {
	return s.back(func(l *session.Sessions) (*session.Session, *cairn.Result, error) { return l.RedoStep(ctx, id, opt) })
}

// Fork is session.Sessions.Fork.
func (s *Sessions) Fork(ctx context.Context, id, message, newID string) (*session.Session, error) {
	return here(s, func(l *session.Sessions) (*session.Session, error) { return l.Fork(ctx, id, message, newID) })
}
