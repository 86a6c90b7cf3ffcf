package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func someFiles() gittest.Tree {
	return gittest.Tree{"edit": gittest.File("old\n"), "gone": gittest.File("bye\n"), "é": gittest.File("one\n")}
}

// TestUndoAndRedo: a turn with an announced and an unannounced tool goes back and forth, and no
// command reaches the agent.
func TestUndoAndRedo(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	begin := gittest.Manifest(t, s.dir)
	s.newSession("s", s.dir)
	pass(s.editor, s.agent, prompt("1", "s", "tidy up"))
	pass(s.agent, s.editor, toolCall("s", "c1", "edit", "pending"))
	pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c1","locations":[{"path":`+quote(s.dir+"/edit")+`}]},"options":[{"optionId":"y","name":"y","kind":"allow_once"}]}}`)
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}`)
	s.write("edit", "NEW\n")
	pass(s.agent, s.editor, toolUpdate("s", "c1", "completed"))
	pass(s.agent, s.editor, toolCall("s", "c2", "execute", "in_progress"))
	if err := os.Remove(filepath.Join(s.dir, "gone")); err != nil {
		t.Fatal(err)
	}
	pass(s.agent, s.editor, toolUpdate("s", "c2", "completed"))
	pass(s.agent, s.editor, ends("1", "end_turn"))
	after := gittest.Manifest(t, s.dir)
	if got := s.command(`"a"`, "s", "/cairn-undo"); !strings.Contains(got, "took back 1 turn: 2 restored") {
		t.Errorf("undo says %q", got)
	}
	s.is("after the undo", begin)
	if got := s.command("null", "s", "cairn redo"); !strings.Contains(got, "brought back 1 turn") {
		t.Errorf("redo says %q", got)
	}
	s.is("after the redo", after)
	if got, want := s.names(), "session news prompt before after did stop typed typed"; got != want {
		t.Errorf("events: %s, want %s", got, want)
	}
	if e := s.event("before"); e["tool"] != "edit" || e["paths"].([]any)[0] != s.dir+"/edit" || e["agent"] != "fake-acp" {
		t.Errorf("the step: %v", e)
	}
	if got := s.command("3", "s", "/cairn-log"); !strings.Contains(got, "2 files") || !strings.Contains(got, "tidy up") {
		t.Errorf("log says %q", got)
	}
}

// TestWaitsForTheCapture: a request that leads to a write is passed on when the state before is
// captured, and a file that the editor writes is a step without any tool call.
func TestWaitsForTheCapture(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles())
	captured := make(chan struct{})
	s.before = func(e map[string]any) {
		if e["event"] == "before" {
			<-captured
		}
	}
	s.start()
	s.newSession("s", s.dir)
	pass(s.editor, s.agent, prompt("1", "s", "go"))
	request := `{"jsonrpc":"2.0","id":"w","method":"fs/write_text_file","params":{"sessionId":"s","path":` + quote(s.dir+"/edit") + `,"content":"NEW\n"}}`
	s.agent.say(request)
	select {
	case got := <-s.editor.out:
		t.Fatalf("arrived before the capture: %s", got)
	default:
	}
	close(captured)
	s.editor.hears(request)
	s.write("edit", "NEW\n")
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":"w","result":null}`)
	s.carries(5)
	s.write("users", "mine\n")
	pass(s.agent, s.editor, ends("1", "end_turn"))
	s.command("2", "s", "cairn undo")
	if got := s.names(); got != "session news prompt before after stop typed" {
		t.Errorf("events: %s", got)
	}
	want := someFiles()
	want["users"] = gittest.File("mine\n")
	gittest.AssertTree(t, s.dir, want)
}
