package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// newServing is a server, which the caller ends, for a project that was tracked.
func newServing(t *testing.T) (s *serving, project string) {
	t.Helper()
	data := socketData(t)
	project = filepath.Join(t.TempDir(), "project")
	gittest.Create(t, project, gittest.Tree{"a/x": gittest.File("1\n"), "b/c/y": gittest.File("2\n"), "b/d/z": gittest.File("3\n")})
	s = &serving{t: t, data: data}
	if out, status := s.cairn(project, "track"); status != 0 {
		t.Fatalf("status %d, %s", status, out)
	}
	s.start(project)
	return s, project
}

// serverLine is what status says of the server, as text and as JSON.
func (s *serving) serverLine(project string) (line string, state *cli.ServerState) {
	s.t.Helper()
	text, status := s.cairn(project, "status")
	if status != 0 {
		s.t.Fatalf("status %d", status)
	}
	for l := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(l, "server "); ok {
			line = strings.TrimSpace(rest)
		}
	}
	text, _ = s.cairn(project, "status", "--json")
	var answer struct{ Server *cli.ServerState }
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		s.t.Fatal(err)
	}
	return line, answer.Server
}

// fromServer is what the server itself says of the project.
func (s *serving) fromServer() cairn.WatchState {
	s.t.Helper()
	status, text := s.get("/status")
	var answer struct{ Watching cairn.WatchState }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != 200 {
		s.t.Fatalf("status %d, %v: %s", status, err, text)
	}
	return answer.Watching
}

// TestStatusOfServer: status tells how a server that is running finds what changed.
func TestStatusOfServer(t *testing.T) {
	t.Parallel()
	s, project := newServing(t)
	defer s.end(syscall.SIGTERM)
	line, state := s.serverLine(project)
	if line != "not looking at this directory just now" || state == nil || state.Watching != nil {
		t.Errorf("before anybody asked the server: %q, %+v", line, state)
	}
	there := s.fromServer()
	line, state = s.serverLine(project)
	want := "watching (directories: 5)"
	if !there.On {
		want = "scanning: " + there.Reason
	}
	if line != want || state == nil || state.Watching == nil || *state.Watching != there {
		t.Errorf("the server says %+v, status %q and %+v", there, line, state)
	}
	if out, _ := s.cairn(project, "status", "--no-server"); strings.Contains(out, "server  ") {
		t.Errorf("without a server status says %s", out)
	}
	if !there.On {
		t.Skip("no watching here: ", there.Reason)
	}
}

// TestLimitOfWatches: where the system's limit is reached, the server scans, and
// status and doctor say why.
func TestLimitOfWatches(t *testing.T) {
	gittest.LongUnlessRace(t)
	if !gittest.Isolated(t) {
		return
	}
	if err := os.WriteFile("/proc/sys/user/max_inotify_watches", []byte("3"), 0); err != nil {
		t.Skip(err)
	}
	s, project := newServing(t)
	defer s.end(syscall.SIGTERM)
	there := s.fromServer()
	if strings.Contains(there.Reason, "cannot be watched") {
		t.Skip("no watching here: ", there.Reason)
	}
	if there.On || there.Limit != "fs.inotify.max_user_watches" {
		t.Fatalf("%+v", there)
	}
	line, state := s.serverLine(project)
	if !strings.HasPrefix(line, "scanning: ") || !strings.Contains(line, "limit for watches reached (fs.inotify.max_user_watches)") || *state.Watching != there {
		t.Errorf("status says %q, %+v", line, state)
	}
	out, status := s.cairn(project, "doctor")
	if status != 1 || !strings.Contains(out, "watching: cairn serve looks at everything each time: ") || !strings.Contains(out, "to do: raise fs.inotify.max_user_watches ") {
		t.Errorf("status %d, doctor says %s", status, out)
	}
	if err := os.WriteFile(filepath.Join(project, "b", "c", "y"), []byte("changed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, text := s.get("/status"); !strings.Contains(text, `"changed":1`) {
		t.Errorf("scanning finds %s", text)
	}
}
