package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/session"
)

// ErrNoServer: no server can do the work. The caller does it itself.
var ErrNoServer = errors.New("no server")

// The errors of a request that a server may have carried out. They wrap ErrNoServer.
var (
	ErrBegun = fmt.Errorf("%w has finished what it has begun", ErrNoServer)
	ErrLost  = fmt.Errorf("%w: its answer is lost", ErrBegun) // it may still be at work
)

// Patience is the time in which a server has to ask for the body of a request. A healthy
// server takes a fraction of it on an idle machine. On a busy one, with 20,000 files, a quarter of the
// calls of hooks took longer than 100 ms where the patience was 5 ms, and a tenth with 25 ms: a caller
// without patience looks at every file itself.
const Patience = 25 * time.Millisecond

// maxAnswer is the limit on an answer, in bytes.
const maxAnswer = 64 << 20

// Client calls a server about one root.
type Client struct {
	socket, root, settings string
	patience               time.Duration
	token                  string // of the operation that is asked for, "" for none
}

// New returns a client for the root of opt. Build names this build of cairn. The first
// call looks for a server; New itself does not.
func New(build string, opt cairn.Options) *Client {
	socket, err := protocol.Socket(opt.DataDir)
	if err != nil {
		socket = "" // too long a path: no server can listen there
	}
	return &Client{socket: socket, root: opt.Root, settings: protocol.Settings(build, opt), patience: Patience}
}

// track is cairn.TrackOptions in the form of the server.
type track struct {
	Message   string      `json:"message,omitempty"`
	Author    string      `json:"author,omitempty"`
	Verify    bool        `json:"verify,omitempty"`
	Paths     cairn.Paths `json:"paths,omitempty"`
	OnlyPaths bool        `json:"onlyPaths,omitempty"`
	Rest      bool        `json:"rest,omitempty"`
	Partial   bool        `json:"partial,omitempty"`
	Deadline  int64       `json:"deadline,omitempty"` // in milliseconds, 0 = none
}

func trackOf(opt cairn.TrackOptions) track {
	return track{
		Message: opt.Message, Author: opt.Author, Verify: opt.Verify, Paths: opt.Paths,
		OnlyPaths: opt.OnlyPaths, Partial: opt.AllowPartial,
	}
}

// Track is cairn.Repo.Track.
func (c *Client) Track(ctx context.Context, opt cairn.TrackOptions) (*cairn.TrackResult, error) {
	in := trackOf(opt)
	if deadline, ok := ctx.Deadline(); ok {
		in.Deadline = max(time.Until(deadline).Milliseconds(), 1)
	}
	waiting, stop := withoutDeadline(ctx)
	defer stop()
	var out protocol.Track
	if err := c.Call(waiting, "/track", in, &out); err != nil {
		return nil, err
	}
	return &out.TrackResult, nil
}

// withoutDeadline returns a context that ends when ctx is cancelled, but not when the
// deadline of ctx passes. The server knows the deadline. When it passes, the server
// reports its progress or makes a partial checkpoint, and that answer comes later.
func withoutDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel()
		}
	})
	return out, func() { stop(); cancel() }
}

// BeginTicket lets the server do work in the background. With rest, the server captures
// the whole root after the paths that r names, under a second ticket.
func (c *Client) BeginTicket(ctx context.Context, r *ticket.Request, rest bool) (id, restID string, err error) {
	in := make(map[string]any)
	switch t, m := r.Track, r.Message; {
	case t != nil:
		body := trackOf(t.Options())
		body.Rest, body.Deadline = rest, milliseconds(t.Timeout)
		in["track"] = body
	case m != nil:
		in["message"] = map[string]any{
			"sessionID": m.Session, "messageID": m.Message, "role": m.Role, "prompt": m.Prompt, "meta": meta(m.Meta), "sessionMeta": meta(m.Begin),
		}
	default:
		body := stepBody(r.Step.Begin())
		body["sessionID"] = r.Step.Session
		in["step"] = body
	}
	var out struct{ Ticket, Rest string }
	err = c.Call(ctx, "/tickets", in, &out)
	return out.Ticket, out.Rest, err
}

// milliseconds returns a time limit in milliseconds. A positive limit never becomes 0,
// which means no limit.
func milliseconds(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return max(d.Milliseconds(), 1)
}

// Call posts in as JSON to a path and decodes the answer into out. Ids in the path are
// escaped. Call registers a root that the server does not know. Errors of the library
// keep their texts, and errors.Is works on them.
func (c *Client) Call(ctx context.Context, path string, in, out any) error {
	return c.registered(ctx, func() error {
		return c.exchange(ctx, c.onRoot(path), c.settings, in, out)
	})
}

// Read is Call for a path that is only read, with further parameters. The patience is for the whole
// answer: a read may be done twice.
func (c *Client) Read(ctx context.Context, path string, out any, more ...url.Values) error {
	target := c.onRoot(path)
	for _, values := range more {
		if len(values) == 0 {
			continue
		}
		target += "&" + values.Encode()
	}
	return c.registered(ctx, func() error {
		return c.send(ctx, head(http.MethodGet, target, c.settings, "", -1), nil, out)
	})
}

// registered calls ask, and once more after it has registered a root that the server does not know.
func (c *Client) registered(ctx context.Context, ask func() error) error {
	err := ask()
	var u *unregisteredError
	if !errors.As(err, &u) {
		return err
	}
	project := map[string]any{"directory": pathtext.Encode(c.root), "exact": true}
	if err := c.exchange(ctx, "/projects", "", project, nil); err != nil {
		return fmt.Errorf("%w: it does not take the root: %w", ErrNoServer, err)
	}
	if err = ask(); errors.As(err, &u) {
		return noServer(err)
	}
	return err
}

func (c *Client) onRoot(path string) string { return path + "?directory=" + url.QueryEscape(c.root) }

func noServer(err error) error { return fmt.Errorf("%w: %w", ErrNoServer, err) }

// exchange makes one request with a body.
func (c *Client) exchange(ctx context.Context, target, settings string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return c.send(ctx, head(http.MethodPost, target, settings, c.token, len(body)), body, out)
}

// send connects, sends head and body, and decodes the answer into out.
func (c *Client) send(ctx context.Context, head, body []byte, out any) error {
	if c.socket == "" {
		return ErrNoServer
	}
	if err := protocol.CheckOwner(c.socket); err != nil {
		return noServer(err)
	}
	deadline := time.Now().Add(c.patience)
	conn, err := (&net.Dialer{Deadline: deadline}).DialContext(ctx, "unix", c.socket)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case err != nil:
		return noServer(err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	a, begun, err := talk(conn, deadline, head, body)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case begun && err != nil:
		return fmt.Errorf("%w: %w", ErrLost, err)
	case err != nil:
		return noServer(err)
	}
	return a.into(out)
}

// head is the beginning of a request with a body of a length, of one without a body if that is negative.
func head(method, target, settings, token string, length int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: cairn\r\nConnection: close\r\n", method, target)
	if length >= 0 {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n", length)
	}
	if settings != "" {
		fmt.Fprintf(&b, "%s: %s\r\n", protocol.SettingsHeader, settings)
	}
	if token != "" {
		fmt.Fprintf(&b, "%s: %s\r\n", protocol.OperationHeader, token)
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// answer is a server's whole answer.
type answer struct {
	status int
	body   []byte
}

// talk sends the head and waits until the deadline for the server to ask for the body.
// It waits for the answer without a deadline. begun reports that the server was given the body.
func talk(conn net.Conn, deadline time.Time, head, body []byte) (a answer, begun bool, err error) {
	if err := conn.SetDeadline(deadline); err != nil {
		return answer{}, false, err
	}
	if _, err := conn.Write(head); err != nil {
		return answer{}, false, err
	}
	in := bufio.NewReader(conn)
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		return answer{}, false, err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return answer{}, false, err
	}
	if response.StatusCode == http.StatusContinue {
		begun = true
		if _, err := conn.Write(body); err != nil {
			return answer{}, begun, err
		}
		if response, err = http.ReadResponse(in, nil); err != nil {
			return answer{}, begun, err
		}
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(data) > maxAnswer {
		err = errors.New("the answer is too long")
	}
	return answer{response.StatusCode, data}, begun, err
}

func (a answer) into(out any) error {
	switch {
	case a.status >= 400:
		return a.problem()
	case out == nil || len(a.body) == 0:
		return nil
	}
	if err := json.Unmarshal(a.body, out); err != nil {
		return fmt.Errorf("%w: %w", ErrBegun, err)
	}
	return nil
}

// unregisteredError: the server does not know the root.
type unregisteredError struct{ text string }

func (e *unregisteredError) Error() string { return e.text }

// sentinels are the errors that callers can tell apart. After any other error of a
// server the caller does the work itself.
var sentinels = map[protocol.Kind]error{
	protocol.NotFound: session.ErrNotFound, protocol.Ambiguous: cairn.ErrAmbiguous, protocol.Outside: cairn.ErrOutside,
	protocol.BadID: session.ErrID, protocol.Busy: session.ErrBusy, protocol.Locked: cairn.ErrLocked, protocol.Sealed: cairn.ErrSealed,
	protocol.Expired: session.ErrExpired, protocol.Deadline: cairn.ErrDeadline, protocol.Disabled: cairn.ErrDisabled,
}

// remoteError is an error of the library in the server.
type remoteError struct {
	text string
	is   error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.is }

// sentinel returns the error of a kind, nil for a kind without one. Sessions share their kind with checkpoints
// and paths; only the text of a missing session has that of its error.
func sentinel(kind protocol.Kind, text string) error {
	if kind == protocol.NotFound && !strings.Contains(text, session.ErrNotFound.Error()) {
		return cairn.ErrNotFound
	}
	return sentinels[kind]
}

func (a answer) problem() error {
	var p struct{ Type, Detail string }
	if err := json.Unmarshal(a.body, &p); err != nil {
		return noServer(err)
	}
	kind := protocol.KindOf(p.Type)
	if kind == protocol.Unregistered {
		return &unregisteredError{p.Detail}
	}
	if is := sentinel(kind, p.Detail); is != nil {
		return &remoteError{p.Detail, is}
	}
	err := fmt.Errorf("status %d: %s", a.status, p.Detail)
	if a.status >= http.StatusInternalServerError {
		return fmt.Errorf("%w: %w", ErrBegun, err)
	}
	return noServer(err)
}
