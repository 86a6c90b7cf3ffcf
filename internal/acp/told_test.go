package acp

import (
	"strings"
	"testing"
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
