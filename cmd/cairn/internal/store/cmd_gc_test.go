package store

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
)

// TestV63_FreedIsNeverNegative: a cleaning that packs a few loose objects may leave more
// bytes than there were.
func TestV63_FreedIsNeverNegative(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	c := &commands{cli.New(strings.NewReader(""), &out, &errs, func(string) string { return "" }, t.TempDir())}
	if err := c.printCleaned(&cairn.CleanResult{Freed: -1436, Kept: 2, Size: 6 << 10}, false); err != nil {
		t.Fatal(err)
	}
	if err := c.Out.Flush(); err != nil || out.String() != "dropped 0 checkpoints, freed 0 bytes; 2 checkpoints in 6.0 KiB left\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
