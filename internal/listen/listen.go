// Package listen opens the ways into a server, the socket and the TCP address, and answers
// on them until the server is to end.
package listen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
)

// Timeouts of a server. A body has its own (package httpapi), and an answer may take
// as long as it takes.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10 // bytes
	graceful      = 30 * time.Second
)

// Way is a way into the server.
type Way struct {
	listener net.Listener
	handler  http.Handler
	Announcement
}

// Announcement tells where a way in is.
type Announcement struct {
	Socket string `json:"socket,omitempty"`
	URL    string `json:"url,omitempty"`
	Login  string `json:"login,omitempty"`

	door *httpapi.Door
}

// TCP is the way of requests that bring a token, or the cookie of a login. names are further
// names of the server, each a host or a host with a port.
func TCP(server *httpapi.Server, l net.Listener, token string, names []string) (Way, error) {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return Way{}, err
	}
	hosts := []string{l.Addr().String(), "localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port}
	for _, name := range names {
		hosts = append(hosts, strings.ToLower(name))
	}
	door := server.TokenDoor(token, port, hosts)
	a := Announcement{URL: "http://" + net.JoinHostPort(host, port), door: door}
	a.Login = a.loginLink()
	return Way{l, door, a}, nil
}

// Socket is the way of this user's processes. It also gives login links for the other ways, and answers what
// no other way does.
func Socket(server *httpapi.Server, socket net.Listener, others []Way, more ...Private) Way {
	return Way{socket, private{server.PrivateDoor(), others, more}, Announcement{Socket: socket.Addr().String()}}
}

func (a Announcement) loginLink() string {
	return a.URL + httpapi.LoginPath + "?code=" + a.door.LoginCode()
}

// loginPath answers with login links. Only the socket has it.
const loginPath = "/login-link"

// Private is a request that only the socket has: POST, with a body of any bytes.
type Private struct {
	Path string

	// Answer returns the body of the answer. It goes on when the client hangs up. ok is false if the
	// client has to do the work itself: nothing was done then.
	Answer func(ctx context.Context, body []byte) (answer []byte, ok bool)
}

// maxPrivate is the limit on a body, in bytes: a payload of a hook and an environment.
const maxPrivate = 32 << 20

// private answers POST /login-link and the private requests on the socket, and hands all other requests to the
// door.
type private struct {
	http.Handler
	ways []Way
	more []Private
}

func (p private) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && r.URL.Path == loginPath {
		for _, way := range p.ways {
			fmt.Fprintln(w, way.loginLink())
		}
		return
	}
	for _, request := range p.more {
		if r.Method == http.MethodPost && r.URL.Path == request.Path {
			request.serve(w, r)
			return
		}
	}
	p.Handler.ServeHTTP(w, r)
}

func (p *Private) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPrivate))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	answer, ok := p.Answer(context.WithoutCancel(r.Context()), body)
	if !ok {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	_, _ = w.Write(answer) // a client that is gone does not want it
}

// LoginLinks asks the server behind a socket for its login links, one a line.
func LoginLinks(ctx context.Context, socket string) (string, error) {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://cairn"+loginPath, nil)
	if err != nil {
		return "", err
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the server answers %s", answer.Status)
	}
	return string(text), err
}

// Serve answers on all ways until ctx ends, and then finishes the requests that are under
// way. It calls ready once the ways are open.
func Serve(ctx context.Context, server *httpapi.Server, ways []Way, logger *slog.Logger, ready func() error) error {
	failed := make(chan error, len(ways))
	var servers []*http.Server
	var serving sync.WaitGroup
	for _, w := range ways {
		h := &http.Server{
			Handler: w.handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
			ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		}
		servers = append(servers, h)
		serving.Go(func() { failed <- h.Serve(w.listener) })
	}
	err := ready()
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		}
	}
	server.Drain()
	last, cancel := context.WithTimeout(context.Background(), graceful)
	defer cancel()
	for _, h := range servers {
		if e := h.Shutdown(last); e != nil {
			err = errors.Join(err, fmt.Errorf("some requests did not end in time: %w", e), h.Close())
		}
	}
	serving.Wait() // a server that was shut down before it began closes its listener only now, and removes the socket
	server.WaitForTickets(last)
	return err
}
