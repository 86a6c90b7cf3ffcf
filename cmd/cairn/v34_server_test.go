//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// post sends a request as a host does, and decodes the answer.
func (s *serving) post(path, body string, to any) {
	s.t.Helper()
	token, err := os.ReadFile(filepath.Join(s.data, "serve", "token"))
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", s.ways[0].URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d %s", path, answer.StatusCode, data)
	}
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		s.t.Fatalf("%s: %v", path, err)
	}
}

// TestV34_KilledServer: the server is killed in the middle of a step of a host that only
// speaks HTTP. The step is still open for the program and for the next server, which ends
// it and takes it back, with what the host wrote while there was no server.
func TestV34_KilledServer(t *testing.T) {
	t.Parallel()
	project := filepath.Join(t.TempDir(), "project")
	gittest.Create(t, project, gittest.Tree{"a": gittest.File("1\n")})
	before := gittest.Manifest(t, project)
	s := &serving{t: t, data: socketData(t)}
	s.start(project)
	var step struct{ ID, Ended string }
	s.post("/session/host/steps", `{"messageID":"m","stepID":"s","role":"user"}`, &step)
	gittest.Create(t, project, gittest.Tree{"with": gittest.File("w\n")})
	s.end(syscall.SIGKILL)
	gittest.Create(t, project, gittest.Tree{"without": gittest.File("o\n")})
	if shown, status := s.cairn(project, "session", "show", "host", "--json"); status != 0 || !strings.Contains(shown, `"open":"s"`) {
		t.Errorf("status %d, %s", status, shown)
	}
	s.start(project)
	s.post("/session/host/steps/s/end", `{}`, &step)
	if step.ID != "s" || step.Ended == "" {
		t.Errorf("%+v", step)
	}
	var back struct{ Result struct{ Deleted []string } }
	s.post("/session/host/undo", `{}`, &back)
	if len(back.Result.Deleted) != 2 {
		t.Errorf("deleted %v", back.Result.Deleted)
	}
	gittest.AssertEqual(t, "after the undo", before, gittest.Manifest(t, project))
	s.end(syscall.SIGTERM)
}
