package client

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/session"
)

// NewSessions returns sessions whose steps a running server records, and of which it tells the news
// and the state. All other calls, and all calls without a server, go to the store that local opens on
// its first call. c may be nil.
func NewSessions(c *Client, local func() (*session.Sessions, error)) service.Sessions {
	return service.Through(func(ctx context.Context, r service.Request, next service.Next) (any, error) {
		if e := exchangeOf(r); c != nil && e != nil {
			out, err := e.with(ctx, c)
			if !errors.Is(err, ErrNoServer) {
				return out, err
			}
		}
		s, err := local()
		if err != nil {
			return nil, err
		}
		return next(ctx, s)
	})
}

// exchange is a call in the form of the server.
type exchange struct {
	path   string
	body   map[string]any // nil: the call only reads
	query  url.Values     // of a call that only reads
	answer any            // a pointer to what the server's answer is decoded into

	// outcome is that of the call, made of the answer and the error. nil = the answer is the outcome.
	outcome func(error) (any, error)
}

// with makes the exchange.
func (e *exchange) with(ctx context.Context, c *Client) (any, error) {
	var err error
	if e.body == nil {
		err = c.Read(ctx, e.path, e.answer, e.query)
	} else {
		err = c.Call(ctx, e.path, e.body, e.answer)
	}
	switch {
	case e.outcome != nil:
		return e.outcome(err)
	case err != nil:
		return nil, err
	}
	return e.answer, nil
}

// exchangeOf returns the exchange for a call, nil where the call is rare or an id cannot
// stand in the path of a request.
func exchangeOf(r service.Request) *exchange {
	if r.Kind == service.RequestNews && plain(r.Session) {
		return newsOf(r.Session)
	}
	switch in := r.In.(type) {
	case service.One:
		if plain(string(in)) {
			return oneSession(string(in), nil)
		}
	case service.BriefOne:
		if plain(string(in)) {
			return oneSession(string(in), url.Values{"brief": {"true"}})
		}
	case session.SessionBegin:
		body := map[string]any{"id": in.ID, "parentID": in.Parent, "title": in.Title, "meta": meta(in.Meta)}
		if len(in.Further) > 0 {
			body["furtherRoots"] = cairn.Paths(in.Further)
		}
		return recorded("/sessions", body, new(session.Session))
	case session.MessageBegin:
		if plain(in.Session) {
			return recorded(sessionPath(in.Session, "/messages"), map[string]any{
				"messageID": in.Message, "role": in.Role, "prompt": in.Prompt, "parts": list(in.Parts), "meta": meta(in.Meta),
			}, new(session.Message))
		}
	case session.StepBegin:
		if plain(in.Session) {
			return recorded(sessionPath(in.Session, "/steps"), stepBody(in), new(session.Step))
		}
	case service.StepHint:
		if plain(in.Session) && plain(in.Step) {
			return recorded(stepPath(in.Session, in.Step, "/hint"), map[string]any{"paths": cairn.Paths(in.Paths)}, new(struct{}))
		}
	case session.StepEnd:
		if plain(in.Session) && plain(in.Step) {
			return recorded(stepPath(in.Session, in.Step, "/end"), map[string]any{
				"parts": list(in.Parts), "paths": cairn.Paths(in.Paths), "gone": in.Gone,
			}, new(session.Step))
		}
	}
	return nil
}

// recorded is an exchange whose answer is the outcome.
func recorded(path string, body map[string]any, answer any) *exchange {
	return &exchange{path: path, body: body, answer: answer}
}

// newsOf takes the news of a session. One that has not begun has none.
func newsOf(id string) *exchange {
	var answer struct{ News *session.News }
	return &exchange{path: sessionPath(id, "/news"), body: map[string]any{}, answer: &answer, outcome: func(err error) (any, error) {
		if errors.Is(err, cairn.ErrNotFound) {
			return nil, nil
		}
		return answer.News, err
	}}
}

// oneSession reads a session. To the server the beginning of an id is as good as the id, so another
// session is no answer.
func oneSession(id string, query url.Values) *exchange {
	var answer session.Session
	return &exchange{path: sessionPath(id, ""), query: query, answer: &answer, outcome: func(err error) (any, error) {
		if err == nil && answer.ID != id {
			err = ErrNoServer
		}
		return &answer, err
	}}
}

func stepBody(b session.StepBegin) map[string]any {
	body := map[string]any{
		"messageID": b.Message, "role": b.Role, "stepID": b.Step, "prompt": b.Prompt, "paths": cairn.Paths(b.Paths), "meta": meta(b.Meta),
	}
	if o := b.Owner; o != nil {
		body["processes"] = list(o.Processes)
		if seconds := int64(o.Lease / time.Second); seconds > 0 {
			body["leaseSeconds"] = seconds
		}
	}
	return body
}

func sessionPath(id, rest string) string { return "/session/" + url.PathEscape(id) + rest }

func stepPath(id, step, rest string) string {
	return sessionPath(id, "/steps/") + url.PathEscape(step) + rest
}

// plain reports whether an id can be part of a path. A path takes "." and ".." for
// directories.
func plain(id string) bool { return id != "" && id != "." && id != ".." }

func meta(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func list[T any](l []T) []T { return append([]T{}, l...) }
