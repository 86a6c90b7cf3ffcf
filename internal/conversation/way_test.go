package conversation

import (
	"errors"
	"strings"
	"testing"
)

// TestRest: every agent of which a way is known has one, the id is a word of a shell, and Move refuses an agent
// whose conversation only a person takes back.
func TestRest(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"claude-code", "codex", "gemini", "qwen", "opencode", "kilo", "pi"} {
		p := Place{Agent: agent, Session: "a b", Message: "1"}
		if rest := p.Rest(); !strings.Contains(rest, "only the files went back") || strings.Contains(rest, "SESSION") || strings.Contains(rest, "resume a b") {
			t.Errorf("%s: %s", agent, rest)
		}
		if p.Moves() {
			continue
		}
		if err := p.Move(t.Context(), t.TempDir()); !errors.Is(err, ErrNoWay) || agent == "codex" {
			t.Errorf("%s: %v", agent, err)
		}
	}
	if rest := (Place{Agent: "another"}).Rest(); rest != "" {
		t.Errorf("an agent that is not known: %s", rest)
	}
}

// TestMissing: an agent that is known is named, and so is the session above that of a sub-agent.
func TestMissing(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{"copilot": "no command of Copilot CLI is known", "cline": "no command of Cline is known", "another": "does not know the agent"} {
		if text := (Place{Agent: agent}).Missing(); !strings.Contains(text, "only the files went back") || !strings.Contains(text, want) {
			t.Errorf("%s: %s", agent, text)
		}
	}
	if text := OfParent("a b"); !strings.HasSuffix(text, "'a b'") {
		t.Error(text)
	}
}
