package linediff

import (
	"bytes"
	"sort"
)

// text is content cut into lines. Line i is content[start[i]:start[i+1]], its
// '\n' included; only the last line may lack it.
type text struct {
	content []byte
	start   []int
}

func newText(content []byte) text {
	n := lineCount(content)
	start := make([]int, n+1)
	for i, at := 0, 0; i < n; i++ {
		start[i] = at
		if nl := bytes.IndexByte(content[at:], '\n'); nl >= 0 {
			at += nl + 1
		}
	}
	start[n] = len(content)
	return text{content, start}
}

func (t text) lines() int { return len(t.start) - 1 }

func (t text) line(i int) []byte { return t.content[t.start[i]:t.start[i+1]] }

// slice is the lines [from,to) in one piece.
func (t text) slice(from, to int) []byte { return t.content[t.start[from]:t.start[to]] }

// lineCount counts lines; a last line without '\n' is one too.
func lineCount(content []byte) int {
	n := bytes.Count(content, []byte{'\n'})
	if len(content) > 0 && content[len(content)-1] != '\n' {
		n++
	}
	return n
}

// commonEnds returns how many lines the two texts share at their beginning and,
// without overlap, at their end.
func commonEnds(a, b text) (head, tail int) {
	shorter := min(a.lines(), b.lines())
	for head < shorter && bytes.Equal(a.line(head), b.line(head)) {
		head++
	}
	for tail < shorter-head && bytes.Equal(a.line(a.lines()-1-tail), b.line(b.lines()-1-tail)) {
		tail++
	}
	return head, tail
}

// tailBlock is the unit in which git cuts off a common tail.
const tailBlock = 1024

// cutTail drops the blocks of bytes that the texts have in common at their ends,
// but for what belongs to the line in which the last block begins or, if it
// begins at a line, that line.
func cutTail(a, b text) (text, text) {
	cut, shorter := 0, min(len(a.content), len(b.content))
	for cut+tailBlock <= shorter && bytes.Equal(a.lastBlock(cut), b.lastBlock(cut)) {
		cut += tailBlock
	}
	nl := bytes.IndexByte(a.content[len(a.content)-cut:], '\n')
	if nl < 0 {
		return a, b
	}
	cut -= nl + 1
	return a.upTo(len(a.content) - cut), b.upTo(len(b.content) - cut)
}

// lastBlock is the block before the last cut bytes.
func (t text) lastBlock(cut int) []byte {
	end := len(t.content) - cut
	return t.content[end-tailBlock : end]
}

// upTo is the text that ends at that byte, where a line ends.
func (t text) upTo(end int) text {
	return text{t.content[:end], t.start[:sort.SearchInts(t.start, end)+1]}
}
