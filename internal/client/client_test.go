package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
	"github.com/seed-fb9cbc17/cairn/session"
)

// fixture is a project, and a data directory whose path is short enough for a socket.
type fixture struct {
	t    *testing.T
	opt  cairn.Options
	root string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	data, err := os.MkdirTemp("", "c")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(data) })
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gittest.Create(t, root, gittest.Tree{"a": gittest.File("1\n"), "pipe": gittest.File("2\n")})
	if _, err := protocol.Socket(data); err != nil {
		t.Skip(err)
	}
	return &fixture{t, cairn.Options{Root: root, DataDir: data, NoSync: true}, root}
}

// client has patience: the machine that runs this may be slow.
func (f *fixture) client() *Client {
	c := New("test", f.opt)
	c.patience = time.Minute
	return c
}

// serve runs a server on the socket until stop is called.
func (f *fixture) serve() (stop func()) {
	f.t.Helper()
	claim, err := httpapi.NewClaim(f.opt.DataDir)
	if err != nil {
		f.t.Fatal(err)
	}
	l, err := claim.Listen()
	if err != nil {
		f.t.Fatal(err)
	}
	server := httpapi.New(httpapi.Options{Build: "test", Logger: slog.New(slog.DiscardHandler), Settings: func(root string) (cairn.Options, error) {
		opt := f.opt
		opt.Root = root
		return opt, nil
	}})
	web := &http.Server{Handler: server.PrivateDoor()}
	done := make(chan struct{})
	go func() { defer close(done); web.Serve(l) }()
	stop = sync.OnceFunc(func() {
		web.Close()
		<-done
		if err := errors.Join(server.Close(), claim.Close()); err != nil {
			f.t.Error(err)
		}
	})
	f.t.Cleanup(stop)
	return stop
}

// listen answers every connection with f.
func (f *fixture) listen(answer func(net.Conn)) {
	f.t.Helper()
	if err := os.MkdirAll(protocol.Dir(f.opt.DataDir), 0o700); err != nil {
		f.t.Fatal(err)
	}
	path, err := protocol.Socket(f.opt.DataDir)
	if err != nil {
		f.t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answer(conn)
		}
	}()
}

// TestSameAnswer: the answer of a server equals the answer of the library in every
// field.
func TestSameAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve()
	if err := os.WriteFile(filepath.Join(f.root, "caf\xe9"), nil, 0o644); err != nil && runtime.GOOS == "linux" {
		t.Fatal(err)
	}
	f.opt.MaxFileSize = 1 // nothing but the empty file fits
	there, err := f.client().Track(t.Context(), cairn.TrackOptions{Message: "m", Author: "me", Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	repo, err := cairn.Open(f.opt)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	c, err := repo.Lookup(t.Context(), "@")
	if err != nil || c.ID != there.Checkpoint || c.Message != "m" || c.Author != "me" {
		t.Errorf("%+v, %v", c, err)
	}
	here, err := repo.Track(t.Context(), cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	here.Changed = there.Changed // the second finds nothing new
	if diff := cmp.Diff(jsonOf(t, here), jsonOf(t, there)); diff != "" || len(there.Skipped) != 2 {
		t.Errorf("(- here, + there)\n%s", diff)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestReasons: why a path could not be read comes over the socket, too.
func TestReasons(t *testing.T) {
	t.Parallel()
	in := &cairn.TrackResult{Hash: "h", Skipped: []cairn.SkippedPath{{Path: "p\xff", Reason: "unreadable"}}, Reasons: map[string]error{"p\xff": errors.New("no")}}
	var wire protocol.Track
	if err := json.Unmarshal([]byte(jsonOf(t, protocol.Track{TrackResult: *in})), &wire); err != nil {
		t.Fatal(err)
	}
	if out := wire.TrackResult; out.Skipped[0].Path != "p\xff" || out.Reasons["p\xff"].Error() != "no" {
		t.Errorf("%+v", out)
	}
}

// TestNoServer: whatever is wrong with a server, the caller is told to do without.
func TestNoServer(t *testing.T) {
	t.Parallel()
	head := func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for line := ""; line != "\r\n"; {
			line, _ = in.ReadString('\n')
			if line == "" {
				return
			}
		}
	}
	hung := func(conn net.Conn) { io.Copy(io.Discard, conn) } // takes all and says nothing
	for name, prepare := range map[string]func(*fixture) *Client{
		"none": func(f *fixture) *Client { return f.client() },
		"dead": func(f *fixture) *Client {
			stop := f.serve()
			path, _ := protocol.Socket(f.opt.DataDir)
			stop()
			l, err := net.Listen("unix", path)
			if err != nil {
				f.t.Fatal(err)
			}
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			l.Close()
			os.Chmod(path, 0o600)
			return f.client()
		},
		"hung": func(f *fixture) *Client {
			f.listen(hung)
			c := f.client()
			c.patience = Patience
			return c
		},
		"not HTTP": func(f *fixture) *Client {
			f.listen(func(c net.Conn) { io.WriteString(c, "220 smtp\r\n"); c.Close() })
			return f.client()
		},
		"dies at once": func(f *fixture) *Client { f.listen(func(c net.Conn) { c.Close() }); return f.client() },
		"dies midway": func(f *fixture) *Client {
			f.listen(func(c net.Conn) { head(c); io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); c.Close() })
			return f.client()
		},
		"answer cut short": func(f *fixture) *Client {
			f.listen(func(c net.Conn) {
				head(c)
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
				c.Close()
			})
			return f.client()
		},
		"no JSON": func(f *fixture) *Client {
			f.listen(func(c net.Conn) {
				head(c)
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
				c.Close()
			})
			return f.client()
		},
		"fails": func(f *fixture) *Client {
			f.listen(func(c net.Conn) {
				head(c)
				io.WriteString(c, "HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\n{}")
				c.Close()
			})
			return f.client()
		},
		"another build": func(f *fixture) *Client { f.serve(); return New("another", f.opt) },
		"other settings": func(f *fixture) *Client {
			f.serve()
			opt := f.opt
			opt.Include = []string{"*.log"}
			c := New("test", opt)
			c.patience = time.Minute
			return c
		},
		"root is gone": func(f *fixture) *Client {
			f.serve()
			f.opt.Root = filepath.Join(f.root, "none")
			return f.client()
		},
		"open to others": func(f *fixture) *Client {
			if runtime.GOOS == "windows" {
				f.t.Skip("no permission bits")
			}
			f.serve()
			path, _ := protocol.Socket(f.opt.DataDir)
			if err := os.Chmod(path, 0o666); err != nil {
				f.t.Fatal(err)
			}
			return f.client()
		},
		"directory open to others": func(f *fixture) *Client {
			if runtime.GOOS == "windows" {
				f.t.Skip("no permission bits")
			}
			f.serve()
			if err := os.Chmod(protocol.Dir(f.opt.DataDir), 0o777); err != nil {
				f.t.Fatal(err)
			}
			return f.client()
		},
		"too long a path": func(f *fixture) *Client {
			f.opt.DataDir = filepath.Join(f.opt.DataDir, "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789")
			return f.client()
		},
		"a file": func(f *fixture) *Client {
			path, _ := protocol.Socket(f.opt.DataDir)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
				f.t.Fatal(err)
			}
			return f.client()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := prepare(newFixture(t))
			if _, err := c.Track(t.Context(), cairn.TrackOptions{}); !errors.Is(err, ErrNoServer) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestV32_ServerKeepsTheDeadline: the caller's deadline passes while the server works. The
// caller waits for what the server says of it, with the library's error in it.
func TestV32_ServerKeepsTheDeadline(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Minute))
	defer cancel()
	late := lateContext{ctx, make(chan struct{})}
	detail := "not everything could be read in time: 3 files of 7"
	f.listen(func(c net.Conn) {
		defer c.Close()
		request, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
		io.Copy(io.Discard, request.Body)
		close(late.done) // the deadline passes while the server is at it
		body := `{"type":"` + protocol.Deadline.URI() + `","detail":"` + detail + `"}`
		fmt.Fprintf(c, "HTTP/1.1 409 Conflict\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	})
	_, err := f.client().Track(late, cairn.TrackOptions{})
	if !errors.Is(err, cairn.ErrDeadline) || err.Error() != detail {
		t.Errorf("the error is %v", err)
	}
}

// lateContext is a context whose deadline passes when done is closed.
type lateContext struct {
	context.Context
	done chan struct{}
}

func (c lateContext) Done() <-chan struct{} { return c.done }

func (c lateContext) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestInterrupted: a caller that is interrupted is not told to do it all again.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.listen(func(c net.Conn) { cancel(); io.Copy(io.Discard, c) })
	for _, when := range []string{"while it waits", "before it connects"} {
		if _, err := f.client().Track(ctx, cairn.TrackOptions{}); !errors.Is(err, context.Canceled) || errors.Is(err, ErrNoServer) {
			t.Errorf("interrupted %s: the error is %v", when, err)
		}
	}
}

// TestSessionsThere: steps are the same if the server records them or this process
// does, and a step begun by one may be ended by the other.
func TestSessionsThere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stop := f.serve()
	opened := 0
	s := NewSessions(f.client(), func() (*session.Sessions, error) {
		opened++
		repo, err := cairn.Open(f.opt)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { repo.Close() })
		return session.New(repo), nil
	})
	ctx, id := t.Context(), "a/../b \xc3\xa9"
	begun, err := s.Begin(ctx, session.SessionBegin{ID: id, Title: "T"})
	if err != nil || string(begun.Root) != f.root || begun.Title != "T" {
		t.Fatalf("%+v, %v", begun, err)
	}
	if _, err := s.AddMessage(ctx, session.MessageBegin{Session: id, Message: "m", Role: session.RoleUser, Prompt: "p"}); err != nil {
		t.Fatal(err)
	}
	st, err := s.BeginStep(ctx, session.StepBegin{Session: id, Step: "1/2"})
	if err != nil || st.Message != "m" || !st.Open() {
		t.Fatalf("%+v, %v", st, err)
	}
	if err := s.Hint(ctx, id, "1/2", []string{"a"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.root, "a"), []byte("2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if st, err = s.EndStep(ctx, session.StepEnd{Session: id, Step: "1/2"}); err != nil || len(st.Patch.Files) != 1 {
		t.Fatalf("%+v, %v", st, err)
	}
	if opened != 0 {
		t.Error("the store was opened here")
	}
	if _, err := s.BeginStep(ctx, session.StepBegin{Session: id, Message: "m2", Role: session.RoleUser, Step: "3"}); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Revert(ctx, id, session.Target{Message: "m"}, session.MoveOptions{})
	if !errors.Is(err, session.ErrBusy) {
		t.Errorf("%v", err)
	}
	if _, err := s.EndStep(ctx, session.StepEnd{Session: "none", Step: "x"}); !errors.Is(err, session.ErrNotFound) || errors.Is(err, ErrNoServer) {
		t.Errorf("%v", err)
	}
	stop()
	if _, err := s.EndStep(ctx, session.StepEnd{Session: id, Step: "3"}); err != nil {
		t.Fatal(err)
	}
	list, err := s.History(ctx, id)
	if err != nil || len(list) != 2 || len(list[0].Steps) != 1 || list[1].Steps[0].Open() || opened == 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, _, err := s.Revert(ctx, id, session.Target{Start: true}, session.MoveOptions{}); err != nil {
		t.Error(err)
	}
}

// TestTicketOfStep: a step that the server begins in the background has the owner that
// its request names.
func TestTicketOfStep(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.serve()
	self, ok := session.ProcessOf(os.Getpid())
	if !ok {
		t.Skip("no process can be named here")
	}
	want := &session.Owner{Processes: []session.Process{self}, Lease: 90 * time.Second}
	id, _, err := f.client().BeginTicket(t.Context(), &ticket.Request{Step: ticket.NewStep(session.StepBegin{Session: "s", Step: "1", Owner: want})}, false)
	if err != nil {
		t.Fatal(err)
	}
	a := ticket.In(f.opt.DataDir).Await(t.Context(), id)
	if a == nil || a.Err() != nil {
		t.Fatalf("%+v", a)
	}
	var st session.Step
	if err := json.Unmarshal(a.Result, &st); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, st.Owner); diff != "" {
		t.Error(diff)
	}
}
