//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// losesAnswers has an adapter run a cairn that dies at an event or a command, as a call does that takes too long.
func (s *sandbox) losesAnswers(adapter, event string) {
	s.t.Helper()
	dying := s.file("dying", "#!/bin/sh\n[ \"$1\" = "+event+" ] && exit 1\nin=$(cat)\ncase $in in *'\"event\":\""+event+"\"'*) exit ;; esac\n"+
		"printf %s \"$in\" | "+cairnProgram+" \"$@\"\n")
	if err := os.Chmod(dying, 0o755); err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(s.home, adapter)
	text, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(text), cairnProgram) {
		s.t.Fatalf("%s does not name %s", path, cairnProgram)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(strings.ReplaceAll(string(text), cairnProgram, dying)), 0o644)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestOpenCodeTellsNoAnswer: a session that cairn does not answer for is no secret, and what cairn records of it
// nevertheless goes back.
func TestOpenCodeTellsNoAnswer(t *testing.T) {
	needTier(t, 2)
	for _, event := range []string{"version", "session", "before"} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			s, program := openCodeAgent(t, true)
			s.losesAnswers(".config/opencode/plugins/cairn.ts", event)
			o := startServer(t, s, program)
			before := o.state()
			chat := o.begin()
			message, _ := chat.play(script{write("new.txt", "new\n"), "done"})
			o.logs("cairn gives no answer")
			if event == "session" {
				chat.revert(message, "")
				chat.becomes("undo", before)
			}
		})
	}
}

// logs waits for a message of the plugin.
func (o *opencode) logs(want string) {
	o.t.Helper()
	for end := time.Now().Add(agentBound); !strings.Contains(o.toldInLogs(), want); time.Sleep(lookPause) {
		if time.Now().After(end) {
			o.t.Fatalf("cairn never tells %q: %s", want, o.hooksLog())
		}
	}
}

// TestPiTellsNoAnswer: likewise.
func TestPiTellsNoAnswer(t *testing.T) {
	withPi(t, func(t *testing.T, v piVersion) {
		s := newSandbox(t)
		args := s.piArgs(v, "--mode", "rpc")
		s.losesAnswers(".pi/agent/extensions/cairn.ts", "before")
		p := s.startsPi(args)
		p.play(script{write("new.txt", "new\n"), "done"})
		p.mu.Lock()
		defer p.mu.Unlock()
		if !slices.ContainsFunc(p.told, func(text string) bool {
			return strings.Contains(text, "not all of this turn can be taken back: no answer")
		}) {
			t.Errorf("told %q", p.told)
		}
	})
}
