package mcptools

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestSessionSteps takes chosen steps of a session back by a plan, and one of their hunks.
func TestSessionSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gittest.Tree{"a": gittest.File("1\n2\n3\n4\n5\n6\n7\n8\n9\n")})
	w.step("m1", "edit-1", map[string]string{"a": "one\n2\n3\n4\n5\n6\n7\n8\n9\n"})
	w.step("m2", "edit-2", map[string]string{"a": "one\n2\n3\n4\nfive\n6\n7\n8\n9\n", "b": "b\n"})
	w.step("m3", "run-3", map[string]string{"a": "one\n2\n3\n4\nfive\n6\n7\n8\nnine\n"})
	var plan, done outcome
	args := map[string]any{"stepIDs": []string{"edit-1", "@"}, "dryRun": true}
	w.call("session_revert", args, &plan)
	delete(args, "dryRun")
	args["planID"] = plan.Plan
	w.call("session_revert", args, &done)
	if len(plan.Changes) != 1 || len(done.Restored) != 1 || !done.Complete {
		t.Errorf("%+v, %+v", plan, done)
	}
	gittest.AssertTree(t, w.dir, gittest.Tree{"a": gittest.File("1\n2\n3\n4\nfive\n6\n7\n8\n9\n"), "b": gittest.File("b\n")})
	w.call("undo", nil, &done)
	w.call("session_revert", map[string]any{"stepIDs": []string{"edit-2"}, "paths": []string{"b"}}, &done)
	gittest.AssertTree(t, w.dir, gittest.Tree{"a": gittest.File("one\n2\n3\n4\nfive\n6\n7\n8\nnine\n")})
	w.call("undo", nil, &done)

	var shown diffAnswer
	w.call("session_hunks", map[string]any{"stepIDs": []string{"edit-1", "run"}}, &shown)
	names := named(shown.Patch)
	if len(names) != 2 {
		t.Fatalf("%+v", shown)
	}
	w.call("session_revert", map[string]any{"stepIDs": []string{"edit-1", "run"}, "hunks": names[:1]}, &done)
	gittest.AssertTree(t, w.dir, gittest.Tree{"a": gittest.File("1\n2\n3\n4\nfive\n6\n7\n8\nnine\n"), "b": gittest.File("b\n")})

	w.fails("stepIDs stand without", "session_revert", map[string]any{"stepIDs": []string{"edit-1"}, "turn": 1})
	w.fails("could be edit-1", "session_revert", map[string]any{"stepIDs": []string{"edit"}})
	w.fails("not found", "session_hunks", map[string]any{"stepIDs": []string{"none"}})
}
