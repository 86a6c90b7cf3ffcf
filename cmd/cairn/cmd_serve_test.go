//go:build unix

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/listen"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// serving is a server in a process of its own.
type serving struct {
	t       *testing.T
	data    string
	program string // "" = this one
	cmd     *exec.Cmd
	ways    []listen.Announcement
	err     *strings.Builder
}

// cairn runs the program in dir and returns what it prints and its exit status.
func (s *serving) cairn(dir string, args ...string) (string, int) {
	s.t.Helper()
	cmd := s.command(dir, args...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (s *serving) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), cmp.Or(s.program, "cairn"), args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + s.data, "CAIRN_DATA_DIR=" + s.data, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// start waits until the server is to be reached.
func (s *serving) start(dir string) {
	s.t.Helper()
	s.cmd, s.err = s.command(dir, "serve", "--json", "--listen", "127.0.0.1:0"), &strings.Builder{}
	s.cmd.Stderr = s.err
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.ways = nil
	lines := bufio.NewScanner(out)
	for len(s.ways) < 2 && lines.Scan() {
		var a listen.Announcement
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			s.t.Fatal(err)
		}
		s.ways = append(s.ways, a)
	}
	if len(s.ways) < 2 {
		s.t.Fatalf("not serving: %v: %v: %s", lines.Err(), s.cmd.Wait(), s.err)
	}
	go io.Copy(io.Discard, out)
}

func (s *serving) end(signal syscall.Signal) int {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return s.cmd.ProcessState.ExitCode()
}

// get asks with the token that the server keeps.
func (s *serving) get(path string) (status int, body string) {
	s.t.Helper()
	token, err := os.ReadFile(filepath.Join(s.data, "serve", "token"))
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), "GET", s.ways[0].URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, string(data)
}

// socketData is an empty data directory whose path is short enough for a socket.
func socketData(t *testing.T) string {
	t.Helper()
	data, err := os.MkdirTemp("", "c") // a short path, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(data) })
	if data, err = filepath.EvalSymlinks(data); err != nil {
		t.Fatal(err)
	}
	if _, err := protocol.Socket(data); err != nil {
		t.Skip(err)
	}
	return data
}

// TestServe: the life of a server, as seen by commands on the same machine.
func TestServe(t *testing.T) {
	t.Parallel()
	data := socketData(t)
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	gittest.Create(t, first, gittest.Tree{"a": gittest.File("1\n")})
	gittest.Create(t, second, gittest.Tree{"b": gittest.File("2\n")})
	s := &serving{t: t, data: data}
	s.start(first)

	// A track goes to the server, which did not know of the second project. On a busy
	// machine a command may lose its patience with the server and do the work itself.
	var there string
	for end := time.Now().Add(time.Minute); ; {
		var status int
		if there, status = s.cairn(second, "track", "--json"); status != 0 {
			t.Fatalf("status %d", status)
		}
		if _, list := s.get("/projects"); strings.Contains(list, "second") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no command uses the server")
		}
	}
	here, _ := s.cairn(second, "track", "--json", "--no-server")
	if strings.Replace(there, `"changed":1`, `"changed":0`, 1) != here {
		t.Errorf("%s is not %s", there, here)
	}
	if _, status := s.cairn(first, "track", "--max-file-size", "1K"); status != 0 {
		t.Errorf("status %d with settings of one's own", status)
	}
	if _, status := s.cairn(first, "serve"); status != 1 {
		t.Errorf("a second server ends with %d", status)
	}

	// A login link works once. The cookie that it sets opens the page.
	link, status := s.cairn(first, "serve", "--login")
	if status != 0 || !strings.HasPrefix(link, s.ways[0].URL+"/login?code=") {
		t.Errorf("status %d, %q", status, link)
	}
	var answer map[string]string
	text, status := s.cairn(first, "serve", "--login", "--json")
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != 0 || len(answer) != 1 || !strings.HasPrefix(answer["login"], s.ways[0].URL+"/login?code=") {
		t.Errorf("status %d, %q, %v", status, text, err)
	}
	if status, _ := s.get("/"); status != 200 {
		t.Errorf("the page answers %d", status)
	}

	// A killed server leaves its socket behind. Commands work without a server then,
	// and the next server replaces the socket and has the same token.
	token, _ := os.ReadFile(filepath.Join(data, "serve", "token"))
	s.end(syscall.SIGKILL)
	if again, status := s.cairn(second, "track", "--json"); status != 0 || again != here {
		t.Errorf("status %d, %s", status, again)
	}
	s.start(first)
	if now, _ := os.ReadFile(filepath.Join(data, "serve", "token")); string(now) != string(token) || len(token) < 16 {
		t.Errorf("the token was %q and is %q", token, now)
	}
	for name, want := range map[string]os.FileMode{"": 0o700 | os.ModeDir, "token": 0o600, "sock": 0o600 | os.ModeSocket, "lock": 0o600} {
		if info, err := os.Stat(filepath.Join(data, "serve", name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}

	// SIGTERM ends it and the streams of events, and takes the socket away.
	stream := make(chan error, 1)
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.ways[0].URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	events, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := io.Copy(io.Discard, events.Body)
		stream <- errors.Join(err, events.Body.Close())
	}()
	if status := s.end(syscall.SIGTERM); status != 0 {
		t.Errorf("SIGTERM ends it with %d: %s", status, s.err)
	}
	<-stream
	if _, err := os.Stat(filepath.Join(data, "serve", "sock")); err == nil {
		t.Error("the socket is still there")
	}
}
