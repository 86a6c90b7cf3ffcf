package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/benchtest"
)

// TestAgents: every moment of every agent is measured, each way, and no hook fails.
func TestAgents(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	file := filepath.Join(t.TempDir(), "agents.json")
	opt := optionsOf(t, "-agents", "-files", "40", "-n", "1", "-think", "1ms", "-quiet", "-json", file)
	var out bytes.Buffer
	if err := agentLatency(context.Background(), opt, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var r agentsReport
	if err := json.Unmarshal(benchtest.ReadFile(t, file), &r); err != nil {
		t.Fatal(err)
	}
	untold := 1 + 4 // moments of which Cline and Crush tell nothing
	if len(r.Rows) != (len(agentKinds)*len(moments)-untold)*2 || len(r.Track) != 2 {
		t.Errorf("%d rows, %d tracks", len(r.Rows), len(r.Track))
	}
	for _, floor := range []spreadOfCalls{r.Walk, r.Start} {
		if floor.Count != 2*len(agentKinds) || floor.P50 <= 0 {
			t.Errorf("%+v", floor)
		}
	}
	for _, row := range r.Rows {
		if row.Count == 0 || row.Min <= 0 || row.P50 < row.Min || row.P95 < row.P50 {
			t.Errorf("%+v", row)
		}
	}
	for _, want := range []string{"claude-code", "first tool / unchanged track", "without a server"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

func TestSpreadOfCalls(t *testing.T) {
	t.Parallel()
	var samples []agentSample
	for n := range 21 {
		samples = append(samples, agentSample{wall: time.Duration(20-n) * time.Millisecond, processor: time.Millisecond})
	}
	if got := spreadOf(samples); got != (spreadOfCalls{21, 0, 10, 19, 1}) {
		t.Errorf("%+v", got)
	}
	if got := spreadOf(nil); got != (spreadOfCalls{}) {
		t.Errorf("%+v", got)
	}
}
