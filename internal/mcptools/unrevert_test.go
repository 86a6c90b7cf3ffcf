package mcptools

import (
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestSessionUnrevert brings some of what was taken back back by a plan, and then the rest.
func TestSessionUnrevert(t *testing.T) {
	t.Parallel()
	const before, after = "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n"
	w := newWorld(t, gittest.Tree{"a": gittest.File(before)})
	w.step("m1", "1", map[string]string{"a": after, "b": "b\n", "c": "c\n"})
	var plan, done outcome
	w.fails("nothing to bring back", "session_unrevert", map[string]any{"paths": []string{"b"}})
	w.call("session_undo", nil, &done)
	gittest.AssertTree(t, w.dir, gittest.Tree{"a": gittest.File(before)})
	var shown diffAnswer
	w.call("session_hunks", map[string]any{"reverted": true}, &shown)
	names := named(shown.Patch)
	if len(names) != 4 || !strings.Contains(shown.Patch, "\n-one\n+1\n") {
		t.Fatalf("%+v", shown)
	}
	args := map[string]any{"hunks": names[1:2], "dryRun": true}
	w.call("session_unrevert", args, &plan)
	delete(args, "dryRun")
	args["planID"] = plan.Plan
	w.call("session_unrevert", args, &done)
	w.call("session_unrevert", map[string]any{"paths": []string{"b"}}, &done)
	gittest.AssertTree(t, w.dir, gittest.Tree{"a": gittest.File("1\n2\n3\n4\n5\n6\n7\n8\nnine\n"), "b": gittest.File("b\n")})
	w.call("session_unrevert", nil, &done)
	gittest.AssertTree(t, w.dir, gittest.Tree{"a": gittest.File(after), "b": gittest.File("b\n"), "c": gittest.File("c\n")})
	w.fails("reverted stands without", "session_hunks", map[string]any{"reverted": true, "turn": 1})
	w.fails("a path is empty", "session_unrevert", map[string]any{"paths": []string{""}})
}

// TestSessionRevertTurn takes one turn back, and leaves what came later.
func TestSessionRevertTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gittest.Tree{"a": gittest.File("1\n2\n3\n4\n5\n")})
	w.step("m1", "1", map[string]string{"a": "one\n2\n3\n4\n5\n", "b": "b\n"})
	w.step("m2", "2", map[string]string{"a": "one\n2\n3\n4\nfive\n"})
	var done outcome
	w.call("session_revert", map[string]any{"turn": 1}, &done)
	gittest.AssertTree(t, w.dir, gittest.Tree{"a": gittest.File("1\n2\n3\n4\nfive\n")})
	w.call("undo", nil, &done)
	w.call("session_revert", map[string]any{"turn": 1, "paths": []string{"b"}}, &done)
	gittest.AssertTree(t, w.dir, gittest.Tree{"a": gittest.File("one\n2\n3\n4\nfive\n")})
}
