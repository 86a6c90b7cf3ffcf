//go:build linux

package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestCodexConversation: one command takes the files of a turn back and the conversation, too. The
// model sees the turn before and nothing of the turn that went, and needs no report of it.
func TestCodexConversation(t *testing.T) {
	needTier(t, 1)
	a := codex(t)
	a.env[1] += ":" + filepath.Dir(codexProgram(t))
	a.play(script{write("one.txt", "1\n"), "the first turn has written"})
	one := a.state()
	a.play(script{write("two.txt", "2\n"), "the second turn has written"})
	out := a.cairn("--json", "undo", "--conversation")
	var answer struct {
		Conversation struct {
			Back bool
			How  string
		}
	}
	if err := json.Unmarshal([]byte(out.stdout), &answer); err != nil || !answer.Conversation.Back {
		t.Fatalf("%v: %s", err, out.stdout)
	}
	a.is("the second turn is taken back", one)
	a.play(script{"it goes on"})
	heard := a.asks.text()
	if !strings.Contains(heard, "the first turn has written") || strings.Contains(heard, "the second turn has written") || strings.Contains(heard, reportHead) {
		t.Errorf("the conversation:\n%s", last([]byte(heard), 4000))
	}
}
