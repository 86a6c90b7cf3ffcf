package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// TestV49_TypedInOpenCode: its own undo moves the messages, too, so a typed undo names that.
// What moves nothing is answered as everywhere.
func TestV49_TypedInOpenCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, OpenCode, aTree())
	for text, want := range map[string]string{
		"cairn undo 2": "nothing was done: in OpenCode /undo and /redo", "cairn redo": "comes back in a shell: cairn session redo s",
		"cairn undo --dry-run": nothingToUndo, "cairn log": "changed no files yet", "cairn redoo": "did you mean cairn redo?",
	} {
		payload, _ := json.Marshal(map[string]string{"event": "typed", "session": "s", "cwd": w.root, "prompt": text})
		if got := w.send(string(payload)); !strings.Contains(got, want) || !strings.Contains(got, `"handled":true`) {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestV45_WhatGitDidIsToldToAnAdapter: the undo of an agent's own tells it, too.
func TestV45_WhatGitDidIsToldToAnAdapter(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	w := newWorld(t, OpenCode, aTree())
	w.sh("git init -q -b main . && git add -A && git -c user.name=dev -c user.email=dev@example.com commit -qm begin")
	event := func(fields map[string]string) string {
		fields["session"], fields["cwd"] = "s", w.root
		payload, _ := json.Marshal(fields)
		return w.send(string(payload))
	}
	event(map[string]string{"event": "prompt", "message": "m1", "prompt": "go"})
	event(map[string]string{"event": "before", "message": "m1", "call": "c1", "tool": "bash"})
	w.sh("echo x > new; git checkout -q -b other")
	event(map[string]string{"event": "after", "message": "m1", "call": "c1", "tool": "bash"})
	event(map[string]string{"event": "stop"})
	got := event(map[string]string{"event": "revert", "part": "c1"})
	if !strings.Contains(got, "HEAD was on main and is on other") || !strings.Contains(got, "git symbolic-ref HEAD refs/heads/main") {
		t.Error(got)
	}
	w.noFailures()
}

// TestV44_AnAdaptersUndoMeetsDamage: its user reads the error, so that has the next step.
func TestV44_AnAdaptersUndoMeetsDamage(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]string{
		cairn.ErrCorrupt: "cairn doctor --fix", syscall.ENOSPC: "cairn gc", context.DeadlineExceeded: "cairn session undo s",
	} {
		var out bytes.Buffer
		Handle(t.Context(), OpenCode, strings.NewReader(`{"event":"revert","session":"s","cwd":"/x","part":"c1"}`), &out, Options{
			Dir: t.TempDir(), Open: func(context.Context, string) (*Project, error) { return nil, fmt.Errorf("%w: object 1234", cause) },
		})
		var answer struct{ Error string }
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil || strings.Contains(answer.Error, "\n") || !strings.Contains(answer.Error, want) {
			t.Errorf("%v: %s", err, out.String())
		}
	}
}
