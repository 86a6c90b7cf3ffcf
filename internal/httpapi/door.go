package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// Limits of a request beside its body.
const (
	maxURL      = 32 << 10 // bytes
	bodyTimeout = 30 * time.Second
)

// Door is a way into the server.
type Door struct {
	server *Server
	token  [sha256.Size]byte // hash of the bearer token
	open   bool              // no token is asked for
	hosts  []string
	cookie string
	logins *logins
	cross  *http.CrossOriginProtection
}

// PrivateDoor lets every client in. It is for a Unix socket that only its owner can open.
func (s *Server) PrivateDoor() *Door {
	return &Door{server: s, open: true, cross: http.NewCrossOriginProtection()}
}

// TokenDoor lets in requests with the bearer token, and browsers with the cookie of a
// login. The cookie is not the token, because a browser sends it to every port of the
// host, and another server on this machine may see it. Hosts are the values of the Host
// header for this server; any other value comes from a browser that followed a foreign
// name to this address. Browsers share cookies among ports: name tells the cookies of
// several servers on one machine apart.
func (s *Server) TokenDoor(token, name string, hosts []string) *Door {
	return &Door{
		server: s, token: sha256.Sum256([]byte(token)), hosts: hosts, cookie: "cairn-" + name,
		logins: newLogins(), cross: http.NewCrossOriginProtection(),
	}
}

// ServeHTTP implements http.Handler.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, end := context.WithCancel(r.Context())
	defer end() // also without a network, which would end it
	r = r.WithContext(ctx)
	answer := &answer{ResponseWriter: w}
	defer d.server.recovered(answer, r)
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	if err := d.enter(answer, r); err != nil && !d.server.writeLoginPage(answer, r, err) {
		writeProblem(answer, r, err)
	}
}

// enter checks a request from the outside to the inside, and passes it on.
func (d *Door) enter(w *answer, r *http.Request) error {
	if p := d.checkOrigin(r); p != nil {
		return p
	}
	if d.logins != nil && r.URL.Path == LoginPath && r.Method == http.MethodGet {
		return d.login(w, r)
	}
	if !d.open && !d.knows(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="cairn"`)
		if isDav(r) {
			w.Header().Add("WWW-Authenticate", `Basic realm="cairn", charset="UTF-8"`)
		}
		return problem(http.StatusUnauthorized, protocol.Unauthorized, "a token is wanted: Authorization: Bearer TOKEN; a browser gets in with the link that %s prints", d.server.loginCommand())
	}
	s := d.server
	if err := s.readOnlyRefusal(r); err != nil {
		w.Header().Set("Allow", davMethods)
		return err
	}
	leave, ok := s.reservePlace(r)
	if !ok {
		w.Header().Set("Retry-After", "1")
		return problem(http.StatusTooManyRequests, protocol.TooMany, "too many requests at once")
	}
	defer leave()
	if isDav(r) {
		if err := davRefusal(r); err != nil {
			w.Header().Set("Allow", davMethods)
			return err
		}
	}
	r, err := s.project(r)
	if err != nil {
		return s.problemOf(r.Context(), err)
	}
	if err := s.checkSettings(r); err != nil {
		return s.problemOf(r.Context(), err)
	}
	if err := s.readBody(w, r); err != nil {
		return err
	}
	if token := r.Header.Get(protocol.OperationHeader); token != "" {
		r = r.WithContext(operation.WithToken(r.Context(), token))
	}
	s.route(w, r)
	return nil
}

// colours is the address of the one form of the page that changes nothing but a cookie.
const colours = "/ui/theme"

// readOnlyRefusal returns the answer of a server without changes to a method that may change
// something.
func (s *Server) readOnlyRefusal(r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, "PROPFIND":
		return nil
	}
	if s.opt.ReadOnly == "" || r.URL.Path == colours {
		return nil
	}
	return problem(http.StatusForbidden, protocol.ReadOnly, "%s; %s is not answered", s.opt.ReadOnly, shorten(r.Method))
}

func (d *Door) checkOrigin(r *http.Request) *Problem {
	if len(r.RequestURI) > maxURL || len(r.URL.RawQuery)+len(r.URL.Path) > maxURL {
		return problem(http.StatusRequestURITooLong, protocol.BadRequest, "the address is longer than %d bytes", maxURL)
	}
	if d.hosts != nil && !slices.Contains(d.hosts, strings.ToLower(r.Host)) {
		return problem(http.StatusForbidden, protocol.Forbidden, "no requests for the host %s here", shorten(r.Host))
	}
	if err := d.cross.Check(r); err != nil {
		return problem(http.StatusForbidden, protocol.Forbidden, "no requests from other sites")
	}
	// A page of another site may not see the answer to its request, so refusing such a
	// request costs nothing. A person who follows a link to the page is let in.
	if site := r.Header.Get("Sec-Fetch-Site"); (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return problem(http.StatusForbidden, protocol.Forbidden, "no requests from other sites")
	}
	return nil
}

// knows compares hashes, so that its time tells nothing about the token.
func (d *Door) knows(r *http.Request) bool {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "bearer") {
		return d.isToken(strings.TrimSpace(token))
	}
	if _, password, ok := r.BasicAuth(); ok && isDav(r) {
		return d.isToken(password) // what file managers can send; any name will do
	}
	if c, err := r.Cookie(d.cookie); err == nil {
		return d.logins != nil && d.logins.isValid(c.Value)
	}
	return false
}

func (d *Door) isToken(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], d.token[:]) == 1
}

// reservePlace reserves a place among the requests, or among the streams, which last.
func (s *Server) reservePlace(r *http.Request) (leave func(), ok bool) {
	places := s.requests
	if strings.HasSuffix(r.URL.Path, eventsPath) {
		places = s.streams
	}
	select {
	case places <- struct{}{}:
		return func() { <-places }, true
	default:
		return nil, false
	}
}

// projectPrefix names a project in the path instead of the query.
const projectPrefix = "/project/"

// project removes the prefix from a path that names a project.
func (s *Server) project(r *http.Request) (*http.Request, error) {
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), projectPrefix)
	if !ok {
		return r, nil
	}
	id, rest, _ := strings.Cut(rest, "/")
	p, err := s.projectByID(r.Context(), id)
	if err != nil {
		return r, err
	}
	u, err := r.URL.Parse("/" + strings.TrimLeft(rest, "/"))
	if err != nil {
		return r, badField("path", rest, "unusable")
	}
	u.RawQuery = r.URL.RawQuery
	r = r.WithContext(context.WithValue(r.Context(), projectKey{}, p))
	r.URL = u
	return r, nil
}

// checkSettings refuses callers whose own work would have another result than the
// server's.
func (s *Server) checkSettings(r *http.Request) error {
	theirs := r.Header.Get(protocol.SettingsHeader)
	if theirs == "" {
		return nil
	}
	p, err := s.projectOf(r.Context(), r.URL.Query().Get("directory"))
	if err != nil {
		return err
	}
	opt, err := s.opt.Settings(p.root)
	if err != nil {
		return err
	}
	if protocol.Settings(s.opt.Build, opt) != theirs {
		return problem(http.StatusPreconditionFailed, protocol.Mismatch, "this server is another build, or has other settings or mounts")
	}
	return nil
}

// readBody reads the body and puts a reader of the bytes in its place, so that no later
// stage waits for the network or meets its errors.
func (s *Server) readBody(w *answer, r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		r.Body = http.NoBody
		return nil
	}
	if r.ContentLength > s.opt.MaxBody {
		w.Header().Set("Connection", "close")
		return tooLarge(s.opt.MaxBody)
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not every connection has one
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.opt.MaxBody))
	_ = control.SetReadDeadline(time.Time{})
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return tooLarge(s.opt.MaxBody)
	case err != nil:
		w.Header().Set("Connection", "close")
		return problem(http.StatusBadRequest, protocol.BadRequest, "body: cannot be read: %v", err)
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	return nil
}

func tooLarge(limit int64) *Problem {
	return problem(http.StatusRequestEntityTooLarge, protocol.TooLarge, "body: larger than %d bytes", limit)
}

// route calls the operation. For a path without one, the multiplexer's text becomes a
// problem document.
func (s *Server) route(w *answer, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, openCodePrefix+"/") {
		s.mux.ServeHTTP(w, r)
		return
	}
	// The multiplexer would redirect a path like a//b or a/../b. Such a path most likely
	// holds an id that is not escaped, and the redirect would lead to a wrong place.
	if p := r.URL.EscapedPath(); path.Clean(p) != p && path.Clean(p)+"/" != p {
		writeProblem(w, r, nothingAt(r))
		return
	}
	h, pattern := s.mux.Handler(r)
	if pattern != "" {
		s.mux.ServeHTTP(w, r)
		return
	}
	none := &answer{ResponseWriter: &nowhere{header: make(http.Header)}}
	h.ServeHTTP(none, r)
	if none.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", none.Header().Get("Allow"))
		writeProblem(w, r, problem(http.StatusMethodNotAllowed, protocol.BadRequest, "%s is not for %s here", shorten(r.URL.Path), shorten(r.Method)))
		return
	}
	writeProblem(w, r, nothingAt(r))
}

func nothingAt(r *http.Request) *Problem {
	return problem(http.StatusNotFound, protocol.NotFound, "nothing at %s (GET /openapi.json says what there is)", shorten(r.URL.Path))
}

// recovered answers after a panic, and ends an answer that could not be finished.
func (s *Server) recovered(w *answer, r *http.Request) {
	v := recover()
	switch {
	case v == nil:
		return
	case v == http.ErrAbortHandler:
		panic(v)
	case w.failed != nil || r.Context().Err() != nil:
		s.opt.Logger.Debug("an answer was not taken", "path", r.URL.Path, "error", w.failed)
		panic(http.ErrAbortHandler)
	}
	s.opt.Logger.Error("internal error", "method", r.Method, "path", r.URL.Path, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
	if w.status != 0 {
		panic(http.ErrAbortHandler) // too late for a status; a torn answer must not look whole
	}
	writeProblem(w, r, problem(http.StatusInternalServerError, protocol.Internal, "internal error: see the server's log"))
}

func writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	var p *Problem
	if !errors.As(err, &p) {
		p = problem(http.StatusInternalServerError, protocol.Internal, "%v", err)
	}
	data, marshalErr := json.Marshal(p)
	if marshalErr != nil {
		data = []byte(`{"status":500}`)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(data)
	}
}
