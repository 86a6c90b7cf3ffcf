package webui

import (
	"strconv"
	"strings"
)

// maxSpans bounds the runs of unchanged lines that an address opens.
const maxSpans = 200

// readSpans reads runs of lines from an address: "10-30.50-70". Unusable ones are left out.
func readSpans(text string) (spans []span) {
	for part := range strings.SplitSeq(text, ".") {
		a, b, _ := strings.Cut(part, "-")
		from, err := strconv.Atoi(a)
		to, err2 := strconv.Atoi(b)
		if err == nil && err2 == nil && 0 <= from && from < to && len(spans) < maxSpans {
			spans = append(spans, span{from, to})
		}
	}
	return spans
}

func writeSpans(spans []span) string {
	var parts []string
	for _, s := range spans {
		parts = append(parts, strconv.Itoa(s.from)+"-"+strconv.Itoa(s.to))
	}
	return strings.Join(parts, ".")
}
