package linediff

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// spacedText makes a text of few words, so that lines repeat and changes can slide.
func spacedText(r *rand.Rand) []byte {
	var b bytes.Buffer
	for range r.IntN(40) {
		b.WriteString(strings.Repeat([]string{"\t", "  "}[r.IntN(2)], r.IntN(3)))
		for range r.IntN(3) {
			b.WriteString([]string{"if", "x", "}", "return y", "{"}[r.IntN(5)] + " ")
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// respaced changes blanks, and here and there a word or a line.
func respaced(r *rand.Rand, text []byte) []byte {
	var out []byte
	for _, line := range bytes.SplitAfter(text, []byte{'\n'}) {
		switch r.IntN(12) {
		case 0:
			line = nil
		case 1:
			line = append([]byte("new\n"), line...)
		case 2:
			line = bytes.Replace(line, []byte("x"), []byte("z"), 1)
		case 3, 4:
			line = append([]byte("\t "), line...)
		case 5:
			line = bytes.ReplaceAll(line, []byte(" "), nil)
		case 6:
			line = bytes.Replace(line, []byte("\n"), []byte("\r\n"), 1)
		case 7:
			line = bytes.Replace(line, []byte("\n"), []byte(" \f\v\n"), 1)
		}
		out = append(out, line...)
	}
	if r.IntN(6) == 0 {
		out = bytes.TrimSuffix(out, []byte{'\n'})
	}
	return out
}

// TestIgnoringSpaceAgreesWithGit compares random texts as git diff -w does: counts and hunks, with
// several widths of context.
func TestIgnoringSpaceAgreesWithGit(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	r := rand.New(rand.NewPCG(7, 7))
	var pairs []textPair
	for i := range gittest.Rounds(6000) {
		a := spacedText(r)
		pairs = append(pairs, textPair{fmt.Sprint(i), a, respaced(r, a)})
	}
	dir := writePairs(t, pairs)
	stats := make(map[string]verdict)
	gitRun(t, dir, func(b *bufio.Reader) error { return readNumstat(b, stats) }, "-w", "--numstat", "-z")
	for _, context := range []int{3, 0, 1} {
		patches := make(map[string][]byte)
		gitRun(t, dir, func(b *bufio.Reader) error {
			return readPatches(b, func(path string, patch []byte) { patches[path] = patch })
		}, "-w", "--patch", "--unified="+strconv.Itoa(context))
		for i, p := range pairs {
			path := fmt.Sprintf("%03d/%06d", i/500, i)
			var out bytes.Buffer
			width := context
			if width == 0 {
				width = -1
			}
			if _, err := WriteUnified(&out, p.a, p.b, Options{Context: width, IgnoreSpace: true}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Bytes(), patches[path]) {
				t.Fatalf("context %d: hunks are\n%s\nnot\n%s\nfor %q and %q", context, out.Bytes(), patches[path], p.a, p.b)
			}
			if got := CountIgnoringSpace(p.a, p.b); got != stats[path].stat {
				t.Fatalf("counts are %v, not %v, for %q and %q", got, stats[path].stat, p.a, p.b)
			}
		}
	}
}
