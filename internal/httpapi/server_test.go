package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// fixture is a server with one project, entered through its private door.
type fixture struct {
	t       testing.TB
	server  *Server
	door    http.Handler
	dataDir string
	root    string
}

// failures makes everything that the server logs as an error, panics above all, a
// failure of the test.
type failures struct {
	slog.Handler
	t testing.TB
}

func (f failures) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

func (f failures) Handle(_ context.Context, r slog.Record) error {
	var text strings.Builder
	text.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		text.WriteString(" " + a.String())
		return true
	})
	f.t.Error("the server logged an error: " + text.String())
	return nil
}

func newFixture(t testing.TB, tree gittest.Tree, change ...func(*Options)) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, dataDir: filepath.Join(dir, "data"), root: filepath.Join(dir, "project")}
	gittest.Create(t, f.root, tree)
	f.server = f.open(change...)
	t.Cleanup(func() {
		if err := f.server.Close(); err != nil {
			t.Error(err)
		}
	})
	f.door = f.server.PrivateDoor()
	return f
}

// open makes a server for the fixture's project.
func (f *fixture) open(change ...func(*Options)) *Server {
	f.t.Helper()
	opt := Options{
		Build: "test", Logger: slog.New(failures{slog.DiscardHandler, f.t}),
		Settings: func(root string) (cairn.Options, error) {
			return cairn.Options{Root: root, DataDir: f.dataDir, NoSync: true, Command: "a test"}, nil
		},
	}
	for _, c := range change {
		c(&opt)
	}
	s := New(opt)
	if _, err := s.Register(f.root, true); err != nil {
		f.t.Fatal(err)
	}
	return s
}

// reply is an answer that was read to its end.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// call sends a request; the body is sent as it is if it is a string, else as JSON.
func (f *fixture) call(method, target string, body any) reply {
	f.t.Helper()
	return call(f.t, f.door, request(f.t, method, target, body))
}

func request(t testing.TB, method, target string, body any) *http.Request {
	t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		data, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.NewReader(data)
	}
	r := httptest.NewRequest(method, target, in)
	r.Header.Set("Content-Type", "application/json")
	return r
}

func call(t testing.TB, h http.Handler, r *http.Request) reply {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.Bytes()}
}

// want checks the status and reads the body into v, if that is not nil.
func (r reply) want(t testing.TB, status int, v any) reply {
	t.Helper()
	if r.status != status {
		t.Fatalf("status %d, not %d: %s", r.status, status, r.body)
	}
	if v != nil {
		if err := json.Unmarshal(r.body, v); err != nil {
			t.Fatalf("%v: %s", err, r.body)
		}
	}
	return r
}

// problem checks that the answer is a problem document of a status and a kind, and
// returns its text.
func (r reply) problem(t testing.TB, status int, kind string) string {
	t.Helper()
	var p Problem
	r.want(t, status, &p)
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("the problem is sent as %s", got)
	}
	if p.Status != status || p.Type != "urn:cairn:problem:"+kind || p.Title == "" {
		t.Errorf("not a problem of kind %s: %s", kind, r.body)
	}
	return p.Detail
}

// track takes a checkpoint and returns its tree.
func (f *fixture) track() string {
	f.t.Helper()
	var t cairn.TrackResult
	f.call("POST", "/track", struct{}{}).want(f.t, 200, &t)
	return t.Hash
}

// write puts a file into the project, in the place of what is there.
func (f *fixture) write(name, content string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.root, filepath.FromSlash(name)), []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}
