package acp

import (
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestAgentIsTold: the prompt after an undo says what happened to the files, once, and a slash
// command of the agent stays as it is.
func TestAgentIsTold(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	s.turn()
	s.command("2", "s", "cairn undo")
	pass(s.editor, s.agent, prompt("3", "s", "/compact"))
	pass(s.agent, s.editor, ends("3", "end_turn"))
	next := prompt("4", "s", "go on")
	s.editor.say(next)
	got := s.agent.hear()
	if !strings.HasPrefix(got, strings.TrimSuffix(next, "]}}")) || !strings.Contains(got, `\ndeleted new\n`) || !strings.HasSuffix(got, `asks for it."}]}}`) {
		t.Errorf("the agent is told: %s", got)
	}
	pass(s.agent, s.editor, ends("4", "end_turn"))
	pass(s.editor, s.agent, prompt("5", "s", "go on"))
	pass(s.agent, s.editor, ends("5", "end_turn"))
}

// TestAgentIsToldOfOtherWays: an agent that announces its tools hears of an undo that was done outside
// the conversation, too.
func TestAgentIsToldOfOtherWays(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	s.newSession("s", s.dir)
	pass(s.editor, s.agent, prompt("1", "s", "go"))
	request := `{"jsonrpc":"2.0","id":"w","method":"fs/write_text_file","params":{"sessionId":"s","path":` + quote(s.dir+"/edit") + `,"content":"NEW\n"}}`
	pass(s.agent, s.editor, request)
	s.write("edit", "NEW\n")
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":"w","result":null}`)
	pass(s.agent, s.editor, ends("1", "end_turn"))
	s.undoElsewhere("s")
	s.editor.say(prompt("2", "s", "go on"))
	if got := s.agent.hear(); !strings.Contains(got, `\nrestored edit\n`) {
		t.Errorf("the agent is told: %s", got)
	}
	pass(s.agent, s.editor, ends("2", "end_turn"))
}

// TestUndoBesideAPrompt: an undo after the report of a prompt was fetched goes along with the next prompt, also if
// that is one of another proxy: the prompt that is passed on already must not take it.
func TestUndoBesideAPrompt(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles())
	s.before = func(e map[string]any) {
		if e["prompt"] == "second" {
			s.undoElsewhere("s")
		}
	}
	s.start()
	s.newSession("s", s.dir)
	pass(s.editor, s.agent, prompt("1", "s", "go"))
	request := `{"jsonrpc":"2.0","id":"w","method":"fs/write_text_file","params":{"sessionId":"s","path":` + quote(s.dir+"/edit") + `,"content":"NEW\n"}}`
	pass(s.agent, s.editor, request)
	s.write("edit", "NEW\n")
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":"w","result":null}`)
	pass(s.agent, s.editor, ends("1", "end_turn"))
	pass(s.editor, s.agent, prompt("2", "s", "second"))
	pass(s.agent, s.editor, ends("2", "end_turn"))
	gittest.AssertTree(t, s.dir, someFiles())

	next := s.later()
	pass(next.editor, next.agent, `{"jsonrpc":"2.0","id":"l","method":"session/load","params":{"sessionId":"s","cwd":`+quote(s.dir)+`,"mcpServers":[]}}`)
	pass(next.agent, next.editor, `{"jsonrpc":"2.0","id":"l","result":{}}`)
	next.editor.hear() // the commands
	next.editor.say(prompt("3", "s", "go on"))
	if got := next.agent.hear(); strings.Count(got, `\nrestored edit\n`) != 1 {
		t.Errorf("the agent is told: %s", got)
	}
	pass(next.agent, next.editor, ends("3", "end_turn"))
	pass(next.editor, next.agent, prompt("4", "s", "go on"))
	pass(next.agent, next.editor, ends("4", "end_turn"))
}
