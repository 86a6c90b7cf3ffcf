//go:build unix

package relay

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// listen opens the socket of a data directory as a server does.
func listen(t *testing.T) (path string, l net.Listener) {
	t.Helper()
	dir, err := os.MkdirTemp("", "r") // a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path = filepath.Join(dir, "serve", "sock")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if l, err = net.Listen("unix", path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, l
}

var one = &Call{Program: "p", Agent: "codex", Dir: "/", Parent: 1, Env: []string{"A=1"}}

// TestSend: a server has the whole call, and its whole answer comes back.
func TestSend(t *testing.T) {
	t.Parallel()
	path, l := listen(t)
	long := strings.Repeat("x", 1<<20)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		c, bad := Decode(data)
		if err != nil || bad != nil || r.Method != http.MethodPost || r.URL.Path != Path {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		switch text := string(c.Payload); text {
		case "long":
			w.Header().Set("Content-Length", fmt.Sprint(len(long)))
			io.WriteString(w, long)
		case "refuse":
			w.WriteHeader(http.StatusPreconditionFailed)
		case "torn":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "half")
			panic(http.ErrAbortHandler)
		case "dead":
			panic(http.ErrAbortHandler)
		default:
			w.Header().Set("Content-Length", fmt.Sprint(len(text)+6))
			io.WriteString(w, "A"+text+"\r\n\r\nZ")
		}
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	for payload, want := range map[string]string{
		"": "A\r\n\r\nZ", "{}": "A{}\r\n\r\nZ", "long": long, "refuse": "-", "torn": "-", "dead": "-", strings.Repeat("p", 3<<20): "A" + strings.Repeat("p", 3<<20) + "\r\n\r\nZ",
	} {
		got, done := one.send(path, func() ([]byte, bool) { return []byte(payload), true })
		if done != (want != "-") || done && string(got) != want {
			t.Errorf("%.20q: %v, %.40q", payload, done, got)
		}
	}
	if _, done := one.send(path, func() ([]byte, bool) { return nil, false }); done {
		t.Error("a payload that cannot be read was sent")
	}
}

// TestSendToNoServer: the payload stays unread where no server asks for it, and a server that hangs costs no more
// than its time.
func TestSendToNoServer(t *testing.T) {
	t.Parallel()
	unread := func() ([]byte, bool) { t.Error("the payload was read"); return nil, false }
	gone, l := listen(t)
	l.Close()
	silent, _ := listen(t) // takes connections and reads nothing
	for name, path := range map[string]string{"none": gone, "silent": silent} {
		if _, done := one.send(path, unread); done {
			t.Errorf("%s: done", name)
		}
	}
	refuses, l := listen(t)
	go func() {
		if c, err := l.Accept(); err == nil {
			io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
			c.Close()
		}
	}()
	if _, done := one.send(refuses, unread); done {
		t.Error("a server without the request did it")
	}
	if answerTime <= 20*time.Second {
		t.Error("the server has its own deadline, which is longer")
	}
}

// TestOwned: a socket that others can open, or replace, is not used.
func TestOwned(t *testing.T) {
	t.Parallel()
	path, _ := listen(t)
	if !owned(path) {
		t.Error("a server's own socket is refused")
	}
	for _, change := range []struct {
		name string
		mode os.FileMode
	}{{path, 0o666}, {filepath.Dir(path), 0o755}} {
		info, err := os.Stat(change.name)
		if err == nil {
			err = os.Chmod(change.name, change.mode)
		}
		if err != nil {
			t.Fatal(err)
		}
		if owned(path) {
			t.Errorf("%s with %v is used", change.name, change.mode)
		}
		if err := os.Chmod(change.name, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(filepath.Dir(path), "file", "sock")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if owned(file) || owned(path+"-none") || owned("/"+strings.Repeat("x", 200)+"/sock") {
		t.Error("a file, a missing path or a long one is used")
	}
}

// TestReread: whatever is read from stdin comes again, also what is too long or comes too late for a server.
func TestReread(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		first, later string
		limit        time.Duration
		ok           bool
	}{
		{"", "", time.Minute, true},
		{"12345678", "", time.Minute, true},
		{"123456789", "", time.Minute, false},
		{strings.Repeat("x", 1<<20), "", time.Minute, false},
		{"1234", "5678", time.Millisecond, false},
		{"", strings.Repeat("x", 1<<20), time.Millisecond, false},
	} {
		in, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		late := make(chan struct{})
		go func() {
			io.WriteString(w, test.first)
			if test.later != "" {
				<-late
				io.WriteString(w, test.later)
			}
			w.Close()
		}()
		data, again, ok := reread(in, test.limit, 8)
		close(late)
		if ok != test.ok || ok && string(data) != test.first {
			t.Errorf("%.20q: %v, %.20q", test.first, ok, data)
		}
		if got, err := io.ReadAll(again); err != nil || string(got) != test.first+test.later {
			t.Errorf("%.20q, %.20q: %v, again %d bytes", test.first, test.later, err, len(got))
		}
		in.Close()
		again.Close()
	}
}

// TestProgramAt: another build is another program, also with the same size and time.
func TestProgramAt(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), time.Unix(1, 0)
	ids := make(map[string]bool)
	for _, text := range []string{"build 1", "build 2"} {
		path := filepath.Join(dir, text)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o700), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
		if id := programAt(path); id == "" || ids[id] || id != programAt(path) {
			t.Errorf("%s: %q", text, id)
		} else {
			ids[id] = true
		}
	}
	if id := programAt(filepath.Join(dir, "none")); id != "" {
		t.Errorf("a missing file: %q", id)
	}
	if Program() == "" {
		t.Error("this program is not known")
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}":                  "{}",
		"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 0\r\nDate: x\r\n\r\n": "",
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}":                  "-",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}":                  "-",
		"HTTP/1.1 200 OK\r\n\r\n{}":                                       "-",
		"HTTP/1.1 200 OK\r\nContent-Length: 2":                            "-",
		"HTTP/1.1 412 Precondition Failed\r\nContent-Length: 2\r\n\r\n{}": "-",
		"": "-",
	} {
		if got, ok := body([]byte(answer)); ok != (want != "-") || ok && string(got) != want {
			t.Errorf("%q: %q, %v", answer, got, ok)
		}
	}
}
