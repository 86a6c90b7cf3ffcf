package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/session"
)

// openCodePrefix is the prefix of the operations that speak OpenCode's JSON. Its clients
// also send ?workspace=, which has no meaning here.
const openCodePrefix = "/opencode"

// openCodeRoutes answer as OpenCode 1.18 does, status codes included, with these
// differences: the diff without messageID is the whole session's, which its own
// clients ask for, and an unknown session with a messageID is 404 instead of 500.
func (s *Server) openCodeRoutes() {
	route := func(pattern string, run func(*Project, *http.Request) (any, error)) {
		method, path, _ := strings.Cut(pattern, " ")
		s.mux.HandleFunc(method+" "+openCodePrefix+path, func(w http.ResponseWriter, r *http.Request) {
			s.answerOpenCode(w, r, run)
		})
	}
	route("GET /session", openCodeList)
	route("GET /session/{id}", func(p *Project, r *http.Request) (any, error) {
		return openCodeSession(r.Context(), p, r.PathValue("id"))
	})
	route("GET /session/{id}/diff", openCodeDiff)
	route("POST /session/{id}/revert", openCodeRevert)
	route("POST /session/{id}/unrevert", func(p *Project, r *http.Request) (any, error) {
		out, _, err := p.Sessions.Unrevert(r.Context(), r.PathValue("id"), session.MoveOptions{})
		return openCodeShown(r.Context(), p, out, err)
	})
	route("POST /session/{id}/fork", openCodeFork)
	s.mux.HandleFunc(openCodePrefix+"/", func(w http.ResponseWriter, r *http.Request) {
		writeOpenCode(w, http.StatusNotFound, notFoundError("Not found: "+shorten(r.URL.Path)))
	})
}

// named is the form of most of OpenCode's errors.
type named struct {
	Name string         `json:"name"`
	Data map[string]any `json:"data"`
}

func notFoundError(message string) named {
	return named{"NotFoundError", map[string]any{"message": message}}
}

// openCodeError is an error with the answer that OpenCode gives to it.
type openCodeError struct {
	status int
	body   any
}

func (e *openCodeError) Error() string { return fmt.Sprint(e.body) }

func badPayload(message, field string) error {
	return &openCodeError{http.StatusBadRequest, named{"BadRequest", map[string]any{
		"message": fmt.Sprintf("%s\n  at [%q]", message, field), "kind": "Payload",
	}}}
}

func (s *Server) answerOpenCode(w http.ResponseWriter, r *http.Request, run func(*Project, *http.Request) (any, error)) {
	id := r.PathValue("id")
	out, err := func() (any, error) {
		p, err := s.in(r.Context(), InProject{Directory: r.URL.Query().Get("directory")}, false)
		if err != nil {
			return nil, err
		}
		return run(p, r)
	}()
	var own *openCodeError
	switch {
	case err == nil:
		writeOpenCode(w, http.StatusOK, out)
		return
	case errors.As(err, &own):
		writeOpenCode(w, own.status, own.body)
		return
	}
	var p *Problem
	if !errors.As(s.problemOf(r.Context(), err), &p) {
		panic("internal error: no problem: " + err.Error())
	}
	switch kind := protocol.KindOf(p.Type); {
	case kind == protocol.Busy || kind == protocol.Locked: // what waiting helps against
		writeOpenCode(w, p.Status, map[string]string{"_tag": "SessionBusyError", "sessionID": id, "message": "Session is busy: " + id})
	case p.Status == http.StatusNotFound || p.Status == http.StatusGone:
		message := p.Detail
		if errors.Is(err, session.ErrNotFound) {
			message = "Session not found: " + id
		}
		writeOpenCode(w, http.StatusNotFound, notFoundError(message))
	case p.Status == http.StatusBadRequest:
		writeOpenCode(w, p.Status, named{"BadRequest", map[string]any{"message": p.Detail, "kind": "Params"}})
	default:
		writeOpenCode(w, p.Status, named{"UnknownError", map[string]any{"message": p.Detail, "ref": "err_" + strings.ToLower(rand.Text()[:8])}})
	}
}

func writeOpenCode(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

// ocSession is OpenCode's session. Fields about models and costs are empty, because cairn
// does not know them. Agent, slug, path and version come from the session's metadata,
// which the host writes.
type ocSession struct {
	ID        string            `json:"id"`
	Slug      string            `json:"slug"`
	ProjectID string            `json:"projectID"`
	ParentID  string            `json:"parentID,omitempty"`
	Directory string            `json:"directory"`
	Path      string            `json:"path"`
	Summary   *session.Summary  `json:"summary,omitempty"`
	Cost      int               `json:"cost"`
	Tokens    ocTokens          `json:"tokens"`
	Title     string            `json:"title"`
	Agent     string            `json:"agent,omitempty"`
	Version   string            `json:"version"`
	Time      map[string]int64  `json:"time"`
	Revert    map[string]string `json:"revert,omitempty"`
}

type ocTokens struct {
	Input     int `json:"input"`
	Output    int `json:"output"`
	Reasoning int `json:"reasoning"`
	Cache     struct {
		Read  int `json:"read"`
		Write int `json:"write"`
	} `json:"cache"`
}

func openCodeForm(p *Project, s *session.Session) *ocSession {
	out := &ocSession{
		ID: s.ID, Slug: either(s.Meta["slug"], s.ID), ProjectID: p.ID, ParentID: s.Parent, Directory: pathtext.Encode(p.Root),
		Path: s.Meta["path"], Summary: s.Summary, Title: s.Title, Agent: s.Meta["agent"], Version: either(s.Meta["version"], apiVersion),
		Time: map[string]int64{"created": milliseconds(s.Created), "updated": milliseconds(s.Updated)},
	}
	if r := s.Revert; r != nil {
		out.Revert = map[string]string{"messageID": r.Message, "snapshot": r.Snapshot, "diff": r.Diff}
		if r.Part != "" {
			out.Revert["partID"] = r.Part
		}
	}
	return out
}

func milliseconds(t time.Time) int64 { return t.UnixMilli() }

func openCodeList(p *Project, r *http.Request) (any, error) {
	list, err := p.Sessions.List(r.Context())
	out := []*ocSession{}
	for _, s := range list {
		out = append(out, openCodeForm(p, s))
	}
	return out, err
}

func openCodeSession(ctx context.Context, p *Project, id string) (any, error) {
	s, err := p.Sessions.Get(ctx, id)
	return openCodeShown(ctx, p, s, err)
}

// openCodeShown is a session as OpenCode shows it. While a revert is in effect, the
// summary counts the reverted changes alone.
func openCodeShown(ctx context.Context, p *Project, s *session.Session, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	out := openCodeForm(p, s)
	if s.Revert == nil || s.Revert.Message == "" {
		return out, nil
	}
	list, err := p.Sessions.Changes(ctx, s.ID, session.Scope{Message: s.Revert.Message, Rest: true})
	if err != nil {
		return nil, err
	}
	out.Summary = &session.Summary{Files: len(list)}
	for i := range list {
		added, deleted, _, err := p.Repo.CountLines(&list[i], cairn.DiffOptions{})
		if err != nil {
			return nil, err
		}
		out.Summary.Additions += added
		out.Summary.Deletions += deleted
	}
	return out, nil
}

func openCodeRevert(p *Project, r *http.Request) (any, error) {
	ctx, id := r.Context(), r.PathValue("id")
	to, err := openCodeTarget(r)
	if err != nil {
		return nil, err
	}
	if _, err := p.Sessions.Get(ctx, id); err != nil {
		return nil, err
	}
	out, _, err := p.Sessions.Revert(ctx, id, to, session.MoveOptions{})
	if errors.Is(err, session.ErrNotFound) { // of a message or part: nothing happens
		return openCodeSession(ctx, p, id)
	}
	return openCodeShown(ctx, p, out, err)
}

func openCodeTarget(r *http.Request) (to session.Target, err error) {
	body, err := openCodeBody(r)
	if err != nil {
		return to, err
	}
	var ok bool
	if to.Message, ok, err = textField(body, "messageID"); err == nil && !ok {
		err = badPayload("Missing key", "messageID")
	}
	if err != nil {
		return to, err
	}
	to.Part, _, err = textField(body, "partID")
	return to, err
}

func openCodeBody(r *http.Request) (body map[string]any, err error) {
	data, err := io.ReadAll(r.Body)
	if err == nil && len(data) > 0 {
		err = json.Unmarshal(data, &body)
	}
	if err != nil {
		return nil, &openCodeError{http.StatusBadRequest, named{"BadRequest", map[string]any{"message": clean(shorten(err.Error())), "kind": "Body"}}}
	}
	return body, nil
}

func textField(body map[string]any, name string) (text string, ok bool, err error) {
	v, ok := body[name]
	if !ok {
		return "", false, nil
	}
	if text, ok = v.(string); !ok {
		return "", false, badPayload("Expected string", name)
	}
	return text, true, nil
}

func openCodeFork(p *Project, r *http.Request) (any, error) {
	body, err := openCodeBody(r)
	if err != nil {
		return nil, err
	}
	message, _, err := textField(body, "messageID")
	if err != nil {
		return nil, err
	}
	ctx, id := r.Context(), r.PathValue("id")
	if _, err := p.Sessions.Brief(ctx, id); err != nil {
		return nil, err
	}
	out, err := p.Sessions.Fork(ctx, id, message, "ses_"+rand.Text())
	if errors.Is(err, session.ErrNotFound) { // the session is there
		err = &openCodeError{http.StatusNotFound, notFoundError("Message not found: " + shorten(message))}
	}
	if err != nil {
		return nil, err
	}
	form := openCodeForm(p, out)
	form.Summary = nil
	return form, nil
}
