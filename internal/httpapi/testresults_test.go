package httpapi

import (
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// TestResults: what a command has noted is listed, and @green names a checkpoint.
func TestResults(t *testing.T) {
	t.Parallel()
	f := newFixture(t, someTree)
	var tr protocol.Track
	f.call("POST", "/track", struct{}{}).want(t, 200, &tr)
	var list []cairn.TestResult
	if f.call("GET", "/tests", nil).want(t, 200, &list); list == nil || len(list) != 0 {
		t.Errorf("%v", list)
	}
	f.call("GET", "/checkpoints/@green", nil).problem(t, 404, "not-found")
	repo, err := cairn.Open(cairn.Options{Root: f.root, DataDir: f.dataDir, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	if err := repo.NoteTest(t.Context(), cairn.TestResult{Checkpoint: "@", Command: cairn.Paths{"make", "\xff"}, When: time.Unix(1e9, 0)}); err != nil {
		t.Fatal(err)
	}
	f.call("GET", "/tests", nil).want(t, 200, &list)
	if len(list) != 1 || list[0].Checkpoint != tr.Checkpoint || list[0].Command[1] != "\xff" || !list[0].Passed() {
		t.Errorf("%+v", list)
	}
	var info CheckpointInfo
	if f.call("GET", "/checkpoints/@green", nil).want(t, 200, &info); info.ID != tr.Checkpoint || info.Passed == nil || !*info.Passed {
		t.Errorf("%+v", info)
	}
	var page CheckpointList
	if f.call("GET", "/log", nil).want(t, 200, &page); len(page.Checkpoints) != 1 || page.Checkpoints[0].Passed == nil {
		t.Errorf("the log has no verdict: %+v", page)
	}
	if f.call("GET", "/checkpoints", nil).want(t, 200, &page); len(page.Checkpoints) != 1 || page.Checkpoints[0].Passed == nil {
		t.Errorf("%+v", page)
	}
}
