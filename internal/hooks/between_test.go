package hooks

import (
	"os"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/session"
)

// turnLeaving is a turn of Claude Code whose command makes a file; it leaves a command in
// the background if running is set.
func (w *world) turnLeaving(id, file string, running bool) {
	w.Helper()
	w.prompt("s", id, "turn "+id)
	w.use("PreToolUse", "s", "Bash", "c"+id, map[string]any{"command": "x", "run_in_background": running})
	w.write(file, "by turn "+id+"\n")
	w.comeBack("s", "c"+id)
	status := "completed"
	if running {
		status = "running"
	}
	w.tell("Stop", "s", map[string]any{"background_tasks": []map[string]string{{"id": "b1", "type": "shell", "status": status}}})
}

// TestV42_AStepOfItsOwn: what changed between two turns while a background command ran is
// listed between them and taken back between them, with its label.
func TestV42_AStepOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	start := w.manifest()
	w.turnLeaving("1", "one", true)
	afterOne := w.manifest()
	w.write("log", "by the command\n")
	afterLog := w.manifest()
	w.turnLeaving("2", "two", false)
	all := w.manifest()
	if said := w.prompted("s", "cairn log"); strings.Count(said, "\n") != 3 || !strings.Contains(said, "1 file    after turn 1, by a background command\n") {
		t.Errorf("log said\n%s", said)
	}
	if said := w.prompted("s", "cairn undo"); strings.Contains(said, "background") {
		t.Errorf("%q", said)
	}
	w.isAs(afterLog, "after one undo")
	said := w.prompted("s", "cairn undo")
	if !strings.Contains(said, "deleted log\ntaken back: what changed after turn 1 while a background command ran, your own edits of that time included; cairn redo brings it back, cairn undo takes back turn 1 itself") {
		t.Errorf("%q", said)
	}
	w.isAs(afterOne, "after two undos")
	w.prompted("s", "cairn undo")
	w.isAs(start, "after three undos")
	w.prompted("s", "cairn redo 3")
	w.isAs(all, "after three redos")
	w.noFailures()
}

// TestV42_AtUndo: undo, its preview, log, diff and status know what changed since the
// turn's end before the next prompt is typed.
func TestV42_AtUndo(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"cairn undo --dry-run", "cairn log", "cairn diff", "cairn status", "cairn undo"} {
		w := newWorld(t, Claude, aTree())
		w.turnLeaving("1", "one", true)
		afterOne := w.manifest()
		w.write("log", "by the command\n")
		all := w.manifest()
		if said := w.prompted("s", first); !strings.Contains(said, "after turn 1") {
			t.Errorf("%s: %q", first, said)
		}
		if first == "cairn undo" {
			w.isAs(afterOne, first)
			if said := w.prompted("s", "cairn redo"); !strings.Contains(said, "restored log") {
				t.Errorf("redo said %q", said)
			}
		}
		w.isAs(all, first)
		w.noFailures()
	}
}

// TestV42_TheUsersEditsStay: where no command was left running, what changes between turns
// is the user's. Undo keeps it, and no step has it.
func TestV42_TheUsersEditsStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	w.write("mine", "early\n")
	start := w.manifest()
	w.turnLeaving("1", "one", false)
	w.write("mine", "later\n")
	w.turnLeaving("2", "two", false)
	w.history("s", []step{{"one", ""}}, []step{{"two", ""}})
	w.prompted("s", "cairn undo 2")
	if data, err := os.ReadFile(w.path("mine")); err != nil || string(data) != "later\n" {
		t.Errorf("mine is %q, %v", data, err)
	}
	w.write("mine", "early\n")
	w.isAs(start, "after undo")
	w.noFailures()
}

// TestV42_NothingWritten: a command that wrote nothing leaves no turn.
func TestV42_NothingWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	w.turnLeaving("1", "one", true)
	w.turnLeaving("2", "two", false)
	w.prompted("s", "cairn status")
	w.history("s", []step{{"one", ""}}, []step{{"two", ""}})
	w.noFailures()
}

// TestV42_AtTheNextTool: Claude Code goes on without a prompt when a command in the
// background ends; the command's changes are recorded before the next tool runs, and at
// the end of the session.
func TestV42_AtTheNextTool(t *testing.T) {
	t.Parallel()
	for _, end := range []bool{false, true} {
		w := newWorld(t, Claude, aTree())
		start := w.manifest()
		w.turnLeaving("1", "one", true)
		w.write("log", "by the command\n")
		if end {
			w.tell("SessionEnd", "s", nil)
		} else {
			w.prompt("s", "x", continuations[0]+"<status>completed</status>")
			w.use("PreToolUse", "s", "Bash", "c2", nil)
			w.write("two", "x\n")
			w.comeBack("s", "c2")
			w.tell("Stop", "s", map[string]any{"background_tasks": []any{}})
		}
		w.sessions(func(s *session.Sessions) {
			list, err := s.History(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			if len(list) != 2 || list[1].Prompt != "after turn 1, by a background command" || changedFiles(&list[1]) != 1 {
				t.Errorf("end %v: %+v", end, list)
			}
		})
		w.prompted("s", "cairn undo 9")
		w.isAs(start, "after undo")
		w.noFailures()
	}
}
