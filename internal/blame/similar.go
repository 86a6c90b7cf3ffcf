package blame

import (
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// Similarity returns the part of the lines of the longer text that both texts have in common. It is
// 0 for an empty text.
func Similarity(a, b []byte) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	stat := linediff.Count(a, b)
	lines := len(lineStarts(a)) - 1
	longer := max(lines, len(lineStarts(b))-1)
	return float64(lines-stat.Deleted) / float64(longer)
}
