package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/bench/internal/benchtest"
)

// TestCopies: every contender makes its copies on a mounted image. Where none can be mounted, the output
// says why.
func TestCopies(t *testing.T) {
	t.Parallel()
	needPrograms(t)
	file := filepath.Join(t.TempDir(), "copies.json")
	opt := optionsOf(t, "-copies", "-files", "60", "-shrink", "100", "-n", "2", "-on", "ext4", "-quiet", "-cache", t.TempDir(), "-json", file)
	var out bytes.Buffer
	if err := copiesLatency(context.Background(), opt, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var r copiesReport
	if err := json.Unmarshal(benchtest.ReadFile(t, file), &r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"btrfs", "xfs"} {
		if !strings.Contains(out.String(), "note: not measured on "+name+": not asked for") {
			t.Errorf("no word about %s in\n%s", name, out.String())
		}
	}
	if len(r.Samples) == 0 {
		if !strings.Contains(out.String(), "note: not measured on ext4: ") || !strings.Contains(out.String(), "missed: ") {
			t.Errorf("nothing was measured, and the output does not say why:\n%s", out.String())
		}
		return
	}
	for kind, ways := range copyWays {
		for _, w := range ways {
			row, ok := r.row("ext4", kind, w.who)
			if why := w.missing(); ok != (why == "") || ok && (row.command <= 0 || row.durable < row.command || row.least > row.durable) {
				t.Errorf("%s, %s: %+v %q", kind, w.who, row, why)
			}
		}
	}
	if r.Files < 50 || r.Ignored == 0 {
		t.Errorf("%d files, %d ignored", r.Files, r.Ignored)
	}
}
