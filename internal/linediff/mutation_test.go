package linediff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
)

// mutations are what people and tools do to a file between two versions. Each
// returns new lines and leaves the given ones alone.
var mutations = []func(r *rand.Rand, t [][]byte) [][]byte{
	moveBlock, deleteFunction, duplicateLines, editWords, reindent, insertBlock, deleteLines, swapNeighbours,
}

// mutant applies a few mutations to content.
func mutant(r *rand.Rand, content []byte) []byte {
	t := cut(content)
	for range 1 + r.IntN(5) {
		if len(t) > 0 {
			t = mutations[r.IntN(len(mutations))](r, t)
		}
	}
	out := bytes.Join(t, nil)
	switch r.IntN(40) {
	case 0:
		out = bytes.TrimSuffix(out, []byte("\n"))
	case 1:
		out = bytes.ReplaceAll(out, []byte("\n"), []byte("\r\n"))
	case 2:
		out = append(out, '\n')
	}
	return out
}

func cut(content []byte) [][]byte {
	var out [][]byte
	for line := range bytes.Lines(content) {
		out = append(out, line)
	}
	return out
}

// span picks up to n neighbouring lines.
func span(r *rand.Rand, t [][]byte, n int) (from, to int) {
	from = r.IntN(len(t))
	return from, min(len(t), from+1+r.IntN(n))
}

// splice returns t with the lines [from,to) replaced.
func splice(t [][]byte, from, to int, by ...[]byte) [][]byte {
	out := append([][]byte{}, t[:from]...)
	return append(append(out, by...), t[to:]...)
}

func moveBlock(r *rand.Rand, t [][]byte) [][]byte {
	from, to := span(r, t, 40)
	rest := splice(t, from, to)
	at := r.IntN(len(rest) + 1)
	return splice(rest, at, at, t[from:to]...)
}

// deleteFunction deletes from a line without indentation to the next "}".
func deleteFunction(r *rand.Rand, t [][]byte) [][]byte {
	from := r.IntN(len(t))
	for from > 0 && (t[from][0] == ' ' || t[from][0] == '\t' || t[from][0] == '}' || t[from][0] == '\n') {
		from--
	}
	to := from + 1
	for to < len(t) && to < from+200 && t[to-1][0] != '}' {
		to++
	}
	return splice(t, from, to)
}

func duplicateLines(r *rand.Rand, t [][]byte) [][]byte {
	from, to := span(r, t, 12)
	return splice(t, to, to, t[from:to]...)
}

var word = regexp.MustCompile(`\w+`)

func editWords(r *rand.Rand, t [][]byte) [][]byte {
	out := splice(t, 0, 0)
	for range 1 + r.IntN(6) {
		i := r.IntN(len(out))
		out[i] = word.ReplaceAllFunc(out[i], func(w []byte) []byte {
			if r.IntN(3) == 0 {
				return fmt.Appendf(nil, "%s%d", w, r.IntN(10))
			}
			return w
		})
	}
	return out
}

func reindent(r *rand.Rand, t [][]byte) [][]byte {
	from, to := span(r, t, 30)
	out := splice(t, 0, 0)
	in := r.IntN(2) == 0
	for i := from; i < to; i++ {
		switch {
		case len(out[i]) == 1:
		case in:
			out[i] = append([]byte("\t"), out[i]...)
		default:
			out[i] = bytes.TrimPrefix(out[i], []byte("\t"))
		}
	}
	return out
}

// insertBlock inserts lines from elsewhere with some blank lines and braces.
func insertBlock(r *rand.Rand, t [][]byte) [][]byte {
	from, to := span(r, t, 15)
	block := splice(t[from:to], 0, 0)
	for _, line := range [][]byte{[]byte("\n"), []byte("}\n"), []byte("\t}\n"), []byte("\treturn nil\n")} {
		if r.IntN(2) == 0 {
			at := r.IntN(len(block) + 1)
			block = splice(block, at, at, line)
		}
	}
	at := r.IntN(len(t) + 1)
	return splice(t, at, at, block...)
}

func deleteLines(r *rand.Rand, t [][]byte) [][]byte {
	from, to := span(r, t, 8)
	return splice(t, from, to)
}

func swapNeighbours(r *rand.Rand, t [][]byte) [][]byte {
	from, to := span(r, t, 20)
	end := min(len(t), to+1+r.IntN(20))
	swapped := append(splice(t[to:end], 0, 0), t[from:to]...)
	return splice(t, from, end, swapped...)
}
