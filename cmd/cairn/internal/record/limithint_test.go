package record

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// TestLimitHintOnce: files of all sizes get one hint, which has all ways to raise their limits.
func TestLimitHintOnce(t *testing.T) {
	t.Parallel()
	small := cairn.SkippedPath{Path: "small", Reason: reasonTooLarge, Size: 12}
	large := cairn.SkippedPath{Path: "large", Reason: reasonTooLarge, Size: cairn.DefaultMaxFileSize + 1}
	pipe := cairn.SkippedPath{Path: "pipe", Reason: "pipe"}
	const raise, both = "--max-file-size raises the limit", "--max-file-size raises the limit, and max_include_size that of what include names"
	for _, c := range []struct {
		skipped []cairn.SkippedPath
		want    string
	}{
		{nil, ""},
		{[]cairn.SkippedPath{pipe}, ""},
		{[]cairn.SkippedPath{large, pipe}, raise},
		{[]cairn.SkippedPath{large, small}, both},
		{[]cairn.SkippedPath{small, large}, both},
	} {
		if got := limitHint(c.skipped); got != c.want {
			t.Errorf("the hint for %v is %q, want %q", c.skipped, got, c.want)
		}
	}
}
