package mcptools

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// named finds the names of the hunks in a patch.
func named(patch string) (names []string) {
	for _, m := range regexp.MustCompile(`(?m)^(?:@@ .* @@ #|# hunk )([0-9a-f]{12})`).FindAllStringSubmatch(patch, -1) {
		names = append(names, m[1])
	}
	return names
}

// step records a step that writes files.
func (w *world) step(message, step string, files map[string]string) {
	w.t.Helper()
	sessions := session.New(w.repo)
	_, err := sessions.BeginStep(w.t.Context(), session.StepBegin{Session: "s", Message: message, Role: session.RoleUser, Step: step})
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(files)
	if _, err := sessions.EndStep(w.t.Context(), session.StepEnd{Session: "s"}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestSessionHunks names the hunks of a turn and takes one back by a plan.
func TestSessionHunks(t *testing.T) {
	t.Parallel()
	const before, after = "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n"
	w := newWorld(t, gittest.Tree{"a": gittest.File(before), "bytes": gittest.File("\x001")})
	w.step("m1", "1", map[string]string{"a": after, "bytes": "\x002"})
	w.step("m2", "2", map[string]string{"b": "b\n"})
	var shown diffAnswer
	text := w.call("session_hunks", map[string]any{"turn": 1}, &shown)
	names := named(shown.Patch)
	if len(names) != 3 || len(shown.Files) != 2 || !strings.Contains(text, "#"+names[0]) || !strings.Contains(text, "# hunk "+names[2]+" of bytes: binary file modified") {
		t.Fatalf("%+v\n%s", shown, text)
	}
	w.call("session_hunks", map[string]any{"turn": 1, "maxBytes": 10}, &shown)
	if shown.Omitted != 2 || shown.Patch != "" {
		t.Errorf("%+v", shown)
	}
	var plan, done outcome
	args := map[string]any{"sessionID": "s", "turn": 1, "hunks": names[1:], "dryRun": true}
	w.call("session_revert", args, &plan)
	delete(args, "dryRun")
	args["planID"] = plan.Plan
	w.call("session_revert", args, &done)
	if len(plan.Changes) != 2 || len(done.Restored) != 2 || !done.Complete {
		t.Errorf("%+v, %+v", plan, done)
	}
	gittest.AssertTree(t, w.dir, gittest.Tree{"a": gittest.File("one\n2\n3\n4\n5\n6\n7\n8\n9\n"), "bytes": gittest.File("\x001"), "b": gittest.File("b\n")})
	w.call("undo", nil, &done)
	w.call("session_revert", map[string]any{"messageID": "m1", "lines": []any{map[string]any{"path": "a", "from": 1, "to": 1}}}, &done)
	gittest.AssertTree(t, w.dir, gittest.Tree{"a": gittest.File("1\n2\n3\n4\n5\n6\n7\n8\nnine\n"), "bytes": gittest.File("\x002"), "b": gittest.File("b\n")})

	w.fails("wants a turn, stepIDs, hunks or lines", "session_revert", map[string]any{"messageID": "m1"})
	w.fails("either turn or messageID", "session_revert", map[string]any{"turn": 1, "messageID": "m1", "hunks": names})
	w.fails("the tool session_hunks lists the names", "session_revert", map[string]any{"turn": 2, "hunks": names[:1]})
	w.fails("turns count from 1", "session_hunks", map[string]any{"turn": 0})
	w.fails("turns count from 1", "session_revert", map[string]any{"turn": 0, "hunks": names})
	w.fails("there are 2", "session_hunks", map[string]any{"turn": 3})
	w.fails("a path is empty", "session_revert", map[string]any{"lines": []any{map[string]any{"path": "", "from": 1, "to": 1}}})
}

// TestHunksOfARange names the hunks between two checkpoints and takes one back.
func TestHunksOfARange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gittest.Tree{"a": gittest.File("1\n2\n3\n4\n5\n6\n7\n8\n9\n")})
	w.track()
	w.write(map[string]string{"a": "one\n2\n3\n4\n5\n6\n7\n8\nnine\n"})
	w.track()
	var shown diffAnswer
	w.call("diff", map[string]any{"from": "@~1", "to": "@", "hunkIDs": true}, &shown)
	names := named(shown.Patch)
	if len(names) != 2 {
		t.Fatalf("%+v", shown)
	}
	var plan, done outcome
	w.call("preview", map[string]any{"action": "revert", "from": "@~1", "to": "@", "hunks": names[:1]}, &plan)
	w.call("revert", map[string]any{"from": "@~1", "to": "@", "hunks": names[:1], "planID": plan.Plan}, &done)
	gittest.AssertTree(t, w.dir, gittest.Tree{"a": gittest.File("1\n2\n3\n4\n5\n6\n7\n8\nnine\n")})
	w.fails("the tool diff with hunkIDs lists the names", "revert", map[string]any{"from": "@~1", "to": "@", "hunks": []string{"00000000"}})
	w.fails("hunks is for the action revert", "preview", map[string]any{"action": "undo", "hunks": names})
}

// TestErrorsNameTools: the next step in an error is one that a client of tools can take.
func TestErrorsNameTools(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"the hunk 1234: cairn compare --hunk-ids '/a b' --base @ lists the names": "the hunk 1234: the tool compare with hunkIDs lists the names",
		"name the state that both come from with --base":                          "name the state that both come from with the argument base",
		"not found: with --base":                                                  "not found: with --base",
	} {
		if got := asTools(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
