package hooks

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// delegate is a turn in which only a sub-agent writes.
func (w *world) delegate(turn, prompt, file string) {
	w.Helper()
	sub := func(name string, fields map[string]any) {
		fields["agent_id"], fields["agent_type"], fields["prompt_id"] = "a"+turn, "general", turn
		w.tell(name, "s", fields)
	}
	w.prompt("s", turn, prompt)
	w.use("PreToolUse", "s", "Task", "t"+turn, nil)
	sub("PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": "c" + turn})
	w.write(file, "x\n")
	sub("PostToolBatch", map[string]any{"tool_calls": []any{map[string]any{"tool_name": "Bash", "tool_use_id": "c" + turn}}})
	sub("SubagentStop", map[string]any{"background_tasks": []any{}})
	w.tell("Stop", "s", nil)
}

// TestTurnsOfSubAgents: what a sub-agent changed is of the turn that began it, in every answer.
func TestTurnsOfSubAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	w.delegate("1", "make one", "one")
	one := w.manifest()
	w.delegate("2", "make two", "two")
	for typed, want := range map[string]string{
		"cairn log":            "1 file    make two\n  2  ",
		"cairn diff":           "1 file changed 0 s ago: the turn \"make two\"\nadded    two",
		"cairn diff 2":         `the turn "make one"`,
		"cairn status":         "2 turns of this session can be taken back, 0 brought back\ncairn undo takes back: the turn \"make two\" (1 file",
		"cairn undo --dry-run": ": 1 deleted\ndeleted two\nwould be taken back: the turn \"make two\"",
	} {
		if said := w.prompted("s", typed); !strings.Contains(said, want) {
			t.Errorf("%s: %s", typed, said)
		}
	}
	if said := w.prompted("s", "cairn undo"); !strings.Contains(said, `taken back: the turn "make two"`) {
		t.Error(said)
	}
	w.isAs(one, "after undo")
	w.noFailures()
}

// TestEmptyTurnsAreNotCounted: an undo of several turns passes over one that changed nothing, also where a turn after it
// leaves a path of another session, which is told once.
func TestEmptyTurnsAreNotCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	before := w.manifest()
	w.turnOf("s", "1", "make one", "echo x > one")
	w.prompt("s", "2", "only a question")
	w.tell("Stop", "s", nil)
	w.prompt("s", "3", "make three")
	w.use("PreToolUse", "s", "Write", "c3", map[string]string{"file_path": w.path("three")})
	w.prompt("other", "o", "beside")
	w.use("PreToolUse", "other", "Write", "o1", map[string]string{"file_path": w.path("theirs")})
	w.write("theirs", "x\n")
	w.write("three", "x\n")
	w.comeBack("s", "c3")
	w.tell("PostToolBatch", "other", map[string]any{"tool_calls": []any{map[string]any{"tool_name": "Write", "tool_use_id": "o1"}}})
	said := w.prompted("s", "cairn undo 2")
	if !strings.Contains(said, "took back 2 turns") || strings.Count(said, "kept theirs") != 1 {
		t.Error(said)
	}
	if err := os.Remove(w.path("theirs")); err != nil {
		t.Error(err)
	}
	w.isAs(before, "after undo")
	w.noFailures()
}

// TestEmptyTurnsBehindAConflict: an undo passes over a turn that changed nothing, although a turn after it that is taken
// back has left a conflict.
func TestEmptyTurnsBehindAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	w.turnOf("s", "1", "make one", "echo x > one")
	w.prompt("s", "2", "only a question")
	w.tell("Stop", "s", nil)
	w.turnOf("s", "3", "make three", "echo x > three; echo x > a")
	w.write("a", "mine\n")
	w.prompted("s", "cairn undo")
	if said := w.prompted("s", "cairn undo"); !strings.Contains(said, "took back 1 turn: 1 in conflict, 1 deleted\nconflict a: changed since, and the changes overlap\ndeleted one") {
		t.Error(said)
	}
	w.noFailures()
}

// TestCountOfTurnsIsThatOfTheirNames: a turn that the user has taken back by hand counts where others move with it, as it
// is named.
func TestCountOfTurnsIsThatOfTheirNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	w.turnOf("s", "1", "make one", "echo x > one")
	w.turnOf("s", "2", "make two", "echo x > two")
	w.shell("rm two")
	w.turnOf("s", "3", "make three", "echo x > three")
	if said := w.prompted("s", "cairn undo 99"); !strings.Contains(said, "took back 3 turns: 2 deleted") || strings.Count(said, "\ntaken back: the turn") != 3 {
		t.Error(said)
	}
	if said := w.prompted("s", "cairn redo 99"); !strings.Contains(said, "brought back 3 turns: 2 restored") || strings.Count(said, "\nbrought back: the turn") != 3 {
		t.Error(said)
	}
	w.noFailures()
}

// TestRedoThatChangesNothing: the answer to a redo of which nothing could be changed names the conflict, and the
// next one brings the turn back.
func TestRedoThatChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Claude, aTree())
	w.turnOf("s", "1", "change a", "echo agent > a")
	w.prompted("s", "cairn undo")
	before := w.manifest()
	journal := filepath.Join(cairn.StorePath(w.data, w.root), "cairn", "journal", "operation")
	w.during = func(ctx context.Context) context.Context {
		return gittest.When(ctx, journal, func() { w.write("a", "mine\n") })
	}
	if said := w.prompted("s", "cairn redo"); !strings.Contains(said, "nothing was changed: 1 in conflict\nconflict a: changed since it was examined") {
		t.Error(said)
	}
	w.during = nil
	w.write("a", "a\n")
	w.isAs(before, "as before the redo")
	if said := w.prompted("s", "cairn redo"); !strings.Contains(said, "brought back 1 turn: 1 restored") {
		t.Error(said)
	}
	w.noFailures()
}
