package blame

import (
	"bytes"

	"github.com/seed-fb9cbc17/cairn/internal/linediff"
)

// margin is the number of equal lines around the differing middle of two texts that are compared
// with it, so that a change can still slide as it does in a diff.
const margin = 128

// diffMiddle compares two texts without most of the lines that they have in common at their ends.
// Neighbouring versions of a file differ little, and cutting a text into lines takes longer than
// comparing bytes.
func diffMiddle(a, b []byte, margin int, diff func(a, b []byte) []linediff.Edit) []linediff.Edit {
	head := beforeLines(a[:commonHead(a, b)], margin)
	tail := commonTail(a[head:], b[head:])
	tail -= afterLines(a[len(a)-tail:], margin)
	edits := diff(a[head:len(a)-tail], b[head:len(b)-tail])
	lines := bytes.Count(a[:head], []byte{'\n'})
	for i := range edits {
		e := &edits[i]
		e.A0, e.A1, e.B0, e.B1 = e.A0+lines, e.A1+lines, e.B0+lines, e.B1+lines
	}
	return edits
}

// block is the number of bytes that are compared at once.
const block = 4096

// commonHead returns how many bytes two texts have in common at their beginnings.
func commonHead(a, b []byte) int {
	n, shorter := 0, min(len(a), len(b))
	for n+block <= shorter && bytes.Equal(a[n:n+block], b[n:n+block]) {
		n += block
	}
	for n < shorter && a[n] == b[n] {
		n++
	}
	return n
}

// commonTail is commonHead for the ends.
func commonTail(a, b []byte) int {
	n, shorter := 0, min(len(a), len(b))
	for n+block <= shorter && bytes.Equal(a[len(a)-n-block:len(a)-n], b[len(b)-n-block:len(b)-n]) {
		n += block
	}
	for n < shorter && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}

// beforeLines returns the length of a text without its last lines: the incomplete one, and as many
// whole ones as margin says.
func beforeLines(text []byte, margin int) int {
	n := bytes.LastIndexByte(text, '\n') + 1
	for ; margin > 0 && n > 0; margin-- {
		n = bytes.LastIndexByte(text[:n-1], '\n') + 1
	}
	return n
}

// afterLines returns how many bytes the first lines of a text take: the one that may have begun
// before it, and as many others as margin says.
func afterLines(text []byte, margin int) int {
	n := 0
	for range margin + 1 {
		next := bytes.IndexByte(text[n:], '\n')
		if next < 0 {
			return len(text)
		}
		n += next + 1
	}
	return n
}
