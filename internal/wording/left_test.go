package wording_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// TestLinesOfAWayBack: each kind of line is one line, names five paths at most, and counts the others.
func TestLinesOfAWayBack(t *testing.T) {
	t.Parallel()
	paths := strings.Fields("a b c d e f g")
	for _, line := range []func([]string) string{
		func(p []string) string { return wording.MergedLine(p, strconv.Quote) },
		func(p []string) string { return wording.UnnamedLine(p, strconv.Quote) },
		func(p []string) string { return wording.LeftLine("ignored by rules", p, strconv.Quote) },
	} {
		if got := line(paths); strings.Contains(got, "\n") || !strings.HasSuffix(got, `: "a", "b", "c", "d", "e", and 2 other paths`) {
			t.Error(got)
		}
		if got := line(paths[:5]); !strings.HasSuffix(got, `: "a", "b", "c", "d", "e"`) {
			t.Error(got)
		}
	}
	if got := wording.MissedLine(1, "the disk was full"); !strings.HasPrefix(got, "1 step of") || !strings.HasSuffix(got, ": the disk was full") {
		t.Error(got)
	}
}
