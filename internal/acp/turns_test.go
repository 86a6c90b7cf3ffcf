package acp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestSeveralSessions: sessions in different directories at the same time, their turns interleaved;
// each takes back its own.
func TestSeveralSessions(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles())
	other := newStage(t, someFiles())
	s.start()
	s.newSession("one", s.dir)
	s.newSession("two", other.dir)
	pass(s.editor, s.agent, prompt("1", "one", "go"))
	pass(s.editor, s.agent, prompt("2", "two", "go"))
	s.write("new", "1\n")
	other.write("new", "2\n")
	pass(s.agent, s.editor, toolCall("two", "c", "execute", "completed"))
	pass(s.agent, s.editor, toolCall("one", "c", "execute", "completed"))
	pass(s.agent, s.editor, ends("2", "max_tokens"))
	pass(s.agent, s.editor, ends("1", "end_turn"))
	s.command("3", "one", "cairn undo")
	gittest.AssertTree(t, s.dir, someFiles())
	if data, err := os.ReadFile(filepath.Join(other.dir, "new")); err != nil || string(data) != "2\n" {
		t.Errorf("the other session's file: %q, %v", data, err)
	}
	s.command("4", "two", "/cairn-undo 1")
	gittest.AssertTree(t, other.dir, someFiles())
}

// TestUsersEdits: the user's edits between the tools that ask stay, and those after the turn.
func TestUsersEdits(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	s.newSession("s", s.dir)
	pass(s.editor, s.agent, prompt("1", "s", "go"))
	s.write("while it thinks", "mine\n")
	pass(s.agent, s.editor, toolCall("s", "c", "edit", "in_progress"))
	pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"s","command":"make","args":["all"]}}`)
	s.write("new", "x\n")
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":1,"result":{"terminalId":"t"}}`)
	pass(s.agent, s.editor, toolUpdate("s", "c", "completed"))
	pass(s.agent, s.editor, ends("1", "end_turn"))
	s.write("after", "mine\n")
	s.command("2", "s", "cairn undo")
	want := someFiles()
	want["while it thinks"], want["after"] = gittest.File("mine\n"), gittest.File("mine\n")
	gittest.AssertTree(t, s.dir, want)
	if input := s.event("before")["input"]; fmt.Sprint(input) != "map[command:make all]" {
		t.Errorf("the command is recorded as %v", input)
	}
}

// TestCallsOfTheirOwn: files that the editor writes and terminals are steps without a tool call, and
// end with the response or the release. Tools that only read are none.
func TestCallsOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	s.newSession("s", s.dir)
	pass(s.editor, s.agent, prompt("1", "s", "go"))
	for _, kind := range readers {
		pass(s.agent, s.editor, toolCall("s", kind, kind, "in_progress"))
		pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"`+kind+`"},"options":[]}}`)
		pass(s.agent, s.editor, toolUpdate("s", kind, "completed"))
	}
	pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":"t","method":"terminal/create","params":{"sessionId":"s","command":"make"}}`)
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":"t","result":{"terminalId":"T"}}`)
	pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":"r","method":"terminal/release","params":{"sessionId":"s","terminalId":"T"}}`)
	pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":"w","method":"fs/write_text_file","params":{"sessionId":"s","path":"/x","content":""}}`)
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":"w","error":{"code":1,"message":"no"}}`)
	pass(s.agent, s.editor, ends("1", "end_turn"))
	if got := s.names(); got != "session news prompt before after before after stop" {
		t.Errorf("events: %s", got)
	}
}

// TestRefusedCall: a call that the user refuses, and one whose question is cancelled, ends its step.
func TestRefusedCall(t *testing.T) {
	t.Parallel()
	for _, outcome := range []string{`{"outcome":"cancelled"}`, `{"outcome":"selected","optionId":"n"}`} {
		s := newStage(t, someFiles()).start()
		s.newSession("s", s.dir)
		pass(s.editor, s.agent, prompt("1", "s", "go"))
		for range 2 { // the agent may ask again
			pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c","kind":"execute"},"options":[{"optionId":"n","kind":"reject_once"}]}}`)
			pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":5,"result":{"outcome":`+outcome+`}}`)
		}
		pass(s.agent, s.editor, ends("1", "cancelled"))
		if got := s.names(); got != "session news prompt before after before after stop" {
			t.Errorf("events: %s", got)
		}
	}
}

// TestRefusedClose: a session that the agent does not close goes on, and so does its undo.
func TestRefusedClose(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	s.newSession("s", s.dir)
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":9,"method":"session/close","params":{"sessionId":"s"}}`)
	pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"Method not found"}}`)
	pass(s.editor, s.agent, prompt("1", "s", "go"))
	s.write("new", "x\n")
	pass(s.agent, s.editor, toolCall("s", "c", "edit", "completed"))
	pass(s.agent, s.editor, ends("1", "end_turn"))
	s.command("2", "s", "cairn undo")
	gittest.AssertTree(t, s.dir, someFiles())
}

// TestSilentBeside: beside a tool that runs without a request no step begins, because the changes so
// far would be the user's then. All of them are taken back.
func TestSilentBeside(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	s.newSession("s", s.dir)
	pass(s.editor, s.agent, prompt("1", "s", "go"))
	pass(s.agent, s.editor, toolCall("s", "silent", "execute", "in_progress"))
	s.write("one", "x\n")
	pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":5,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"asks","kind":"edit"},"options":[]}}`)
	s.write("two", "x\n")
	pass(s.agent, s.editor, toolUpdate("s", "asks", "completed"))
	s.write("three", "x\n")
	pass(s.agent, s.editor, toolUpdate("s", "silent", "failed"))
	pass(s.agent, s.editor, toolCall("s", "never ends", "other", "pending"))
	s.write("four", "x\n")
	pass(s.agent, s.editor, ends("1", "end_turn"))
	if got := s.names(); got != "session news prompt did did stop" {
		t.Errorf("events: %s", got)
	}
	s.command("2", "s", "cairn undo")
	gittest.AssertTree(t, s.dir, someFiles())
}

// TestFailOpen: the agent goes on if nothing can be recorded. The user is told once.
func TestFailOpen(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles())
	s.fake = func(map[string]any) (any, bool) { return answer{Error: "the disk is full"}, true }
	s.start()
	s.newSession("s", s.dir)
	s.carries(1)
	pass(s.editor, s.agent, prompt("1", "s", "go"))
	const want = "cairn could not record a part of this session, which cannot be taken back: the disk is full"
	if got := s.editor.hear(); !strings.Contains(got, want) || !strings.Contains(got, "agent_message_chunk") {
		t.Errorf("the user is told: %s", got)
	}
	for _, id := range []string{"1", "2"} {
		pass(s.agent, s.editor, toolCall("s", "c"+id, "edit", "completed"))
		pass(s.agent, s.editor, ends(id, "end_turn"))
		if id == "1" {
			pass(s.editor, s.agent, prompt("2", "s", "go"))
		}
	}
	if got := s.command("3", "s", "cairn undo"); !strings.Contains(got, "the disk is full") {
		t.Errorf("undo says %q", got)
	}
	if len(s.told) != 1 || s.told[0] != want {
		t.Errorf("beside the conversation: %q", s.told)
	}
}

// TestFailureInATurn: what fails in a turn is told before its end.
func TestFailureInATurn(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles())
	s.fake = func(e map[string]any) (any, bool) { return nil, e["event"] == "did" } // null is no answer
	s.start()
	s.newSession("s", s.dir)
	pass(s.editor, s.agent, prompt("1", "s", "go"))
	pass(s.agent, s.editor, toolCall("s", "c", "edit", "completed"))
	s.agent.say(ends("1", "end_turn"))
	if got := s.editor.hear(); !strings.Contains(got, "could not record") {
		t.Errorf("before the end: %s", got)
	}
	s.editor.hears(ends("1", "end_turn"))
}

// TestBound: a capture that never ends holds nothing for longer than the bound.
func TestBound(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	p := &proxy{Options: Options{Bound: time.Nanosecond, Record: func(context.Context, string, []byte) []byte { <-never; return nil }, Tell: func(string) {}}}
	s := &session{id: "s"}
	p.await(p.enqueue(s, event{"event": "prompt"}))()
	close(never)
	<-s.done
}

// TestCancelledUndo: the agent hears nothing of it, and the answer says how the undo ended.
func TestCancelledUndo(t *testing.T) {
	t.Parallel()
	for _, cancel := range []string{`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"u"}}`} {
		s := newStage(t, someFiles())
		begun, cancelled := make(chan struct{}), make(chan struct{})
		s.before = func(e map[string]any) {
			if e["event"] == "typed" {
				close(begun)
				<-cancelled
			}
		}
		s.start()
		s.turn()
		s.editor.say(prompt(`"u"`, "s", "cairn undo"))
		<-begun
		s.editor.say(prompt(`"v"`, "s", "cairn undo"))
		if said, reason := s.answer(`"v"`); reason != "end_turn" || !strings.Contains(said, "nothing was done") {
			t.Errorf("the second undo at the same time says %q, %q", said, reason)
		}
		s.editor.say(cancel)
		pass(s.editor, s.agent, `{"after":"the cancel"}`)
		close(cancelled)
		if said, reason := s.answer(`"u"`); reason != "cancelled" || said == "" {
			t.Errorf("the answer: %q, %q", said, reason)
		}
		s.before = nil
		s.command("3", "s", "cairn undo") // takes back what the cancelled one left, or says that there is nothing
		gittest.AssertTree(t, s.dir, someFiles())
		pass(s.editor, s.agent, cancel)
	}
}

// TestUndoBesideATurn: nothing is taken back while the agent is at work.
func TestUndoBesideATurn(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	s.newSession("s", s.dir)
	pass(s.editor, s.agent, prompt("1", "s", "go"))
	if got := s.command("2", "s", "cairn undo"); !strings.Contains(got, "nothing was done") {
		t.Errorf("undo says %q", got)
	}
	pass(s.agent, s.editor, ends("1", "end_turn"))
}

// TestLoadedSession: the history that an agent repeats is not recorded, and a later proxy takes back
// what an earlier one recorded.
func TestLoadedSession(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	s.turn()
	later := s.later()
	pass(later.editor, later.agent, `{"jsonrpc":"2.0","id":0,"method":"session/load","params":{"sessionId":"s","cwd":`+quote(s.dir)+`}}`)
	pass(later.agent, later.editor, toolCall("s", "c", "edit", "completed"))
	pass(later.agent, later.editor, `{"jsonrpc":"2.0","id":0,"result":null}`)
	later.editor.hear() // the list of commands
	later.command("1", "s", "cairn undo")
	gittest.AssertTree(t, s.dir, someFiles())
	if got := later.names(); got != "session typed" {
		t.Errorf("events: %s", got)
	}
}

// TestAgentCrash: what an agent did that dies in the middle of a turn can be taken back.
func TestAgentCrash(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	s.newSession("s", s.dir)
	pass(s.editor, s.agent, prompt("1", "s", "go"))
	pass(s.agent, s.editor, toolCall("s", "c", "edit", "in_progress"))
	s.write("new", "x\n")
	s.agent.in.Close()
	<-s.ended
	if got := s.names(); got != "session news prompt did stop end" {
		t.Errorf("events: %s", got)
	}
	later := s.later()
	later.newSession("s", s.dir)
	later.command("1", "s", "cairn undo")
	gittest.AssertTree(t, s.dir, someFiles())
}

// TestEditorIsGone: the agent's input ends with the editor's output. An editor that reads no more ends
// the agent's output.
func TestEditorIsGone(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	s.newSession("s", s.dir)
	s.editor.in.Close()
	if text, open := <-s.agent.out; open {
		t.Errorf("arrived: %s", text)
	}
	pass(s.agent, s.editor, `{"still":"at work"}`)
}

// TestLaterVersion: a version of the protocol that cairn does not know is passed on and not recorded.
func TestLaterVersion(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2}}`)
	pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"agentInfo":{"name":"x"}}}`)
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":`+quote(s.dir)+`}}`)
	pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`)
	pass(s.editor, s.agent, prompt("2", "s", "cairn undo"))
	pass(s.agent, s.editor, ends("2", "end_turn"))
	if len(s.told) != 1 || s.names() != "" {
		t.Errorf("told %q, events %s", s.told, s.names())
	}
}

// TestOtherDirectories: they go back with the project. The user is told of one that cannot.
func TestOtherDirectories(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	lib := filepath.Join(filepath.Dir(s.dir), "lib")
	gone := filepath.Join(filepath.Dir(s.dir), "gone")
	gittest.Create(t, lib, someFiles())
	begin := gittest.Manifest(t, lib)
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":`+quote(s.dir)+`,"additionalDirectories":[`+quote(lib)+`,`+quote(gone)+`]}}`)
	pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`)
	s.editor.hear() // the list of commands
	s.carries(1)
	pass(s.editor, s.agent, prompt("2", "s", "go"))
	if got := s.editor.hear(); !strings.Contains(got, "changes in "+gone+" cannot be taken back") {
		t.Errorf("told: %s", got)
	}
	if err := os.Remove(filepath.Join(lib, "gone")); err != nil {
		t.Fatal(err)
	}
	pass(s.agent, s.editor, toolCall("s", "c", "execute", "completed"))
	pass(s.agent, s.editor, ends("2", "end_turn"))
	if got := s.command("3", "s", "cairn undo"); !strings.Contains(got, "took back 1 turn: 1 restored") || !strings.Contains(got, filepath.ToSlash(lib)+"/gone") {
		t.Errorf("undo says %q", got)
	}
	gittest.AssertEqual(t, "the other directory", begin, gittest.Manifest(t, lib))
}

// TestFork: a fork takes back its own turns only. A session that was closed is unknown.
func TestFork(t *testing.T) {
	t.Parallel()
	s := newStage(t, someFiles()).start()
	s.turn()
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":2,"method":"session/fork","params":{"sessionId":"s","cwd":`+quote(s.dir)+`}}`)
	pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"f"}}`)
	s.editor.hear() // the list of commands
	if got := s.command("3", "f", "cairn undo"); !strings.Contains(got, "nothing to take back") {
		t.Errorf("undo says %q", got)
	}
	pass(s.editor, s.agent, `{"jsonrpc":"2.0","id":4,"method":"session/close","params":{"sessionId":"f"}}`)
	pass(s.agent, s.editor, `{"jsonrpc":"2.0","id":4,"result":{}}`)
	pass(s.editor, s.agent, prompt("5", "f", "cairn undo"))
}
