package mcptools

import (
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

func TestTestsTool(t *testing.T) {
	t.Parallel()
	w := newWorld(t, begin)
	var list testList
	if text := w.call("tests", map[string]any{}, &list); len(list.Tests) != 0 || text != "no test was noted yet; cairn test -- COMMAND notes one" {
		t.Errorf("%q %+v", text, list)
	}
	c := w.track().Checkpoint
	for i, status := range []int{0, 1, cairn.TestSkipped} {
		r := cairn.TestResult{Checkpoint: c, Command: cairn.Paths{"make", string(rune('a' + i)), "\xff"}, Status: status, When: time.Unix(1e9, 0)}
		if err := w.repo.NoteTest(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	wantText(t, "tests", w.call("tests", map[string]any{}, &list), c, "passed: make a", "failed with status 1: make b", "cannot be tested: make c")
	if len(list.Tests) != 3 || list.More || list.Tests[0].Status != cairn.TestSkipped || list.Tests[2].Command[2] != "\xff" {
		t.Errorf("%+v", list)
	}
	var checkpoints checkpointList
	if w.call("checkpoints", map[string]any{}, &checkpoints); len(checkpoints.Checkpoints) != 1 || checkpoints.Checkpoints[0].Passed == nil || *checkpoints.Checkpoints[0].Passed {
		t.Errorf("%+v", checkpoints)
	}
	if w.call("tests", map[string]any{"limit": 2}, &list); len(list.Tests) != 2 || !list.More {
		t.Errorf("%+v", list)
	}
}
