package linediff

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

const (
	sourcePairs    = 2400
	maxSourceBytes = 100 << 10
)

// TestGoSource compares files of the Go installation with their siblings and
// with mutants of themselves.
func TestGoSource(t *testing.T) {
	t.Parallel()
	files, families := goSource(t)
	wanted := gittest.Rounds(sourcePairs)
	var pairs []textPair
	for _, family := range families {
		for i := 1; i < len(family) && len(pairs) < wanted/2; i++ {
			pairs = append(pairs, textPair{family[i], files[family[i-1]], files[family[i]]})
		}
	}
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range files {
			if !yield(name) {
				return
			}
		}
	})
	r := rand.New(rand.NewPCG(1, 2))
	for len(pairs) < wanted {
		name := names[r.IntN(len(names))]
		pairs = append(pairs, textPair{"mutant of " + name, files[name], mutant(r, files[name])})
	}
	sum := comparePairs(t, pairs, defaultContext)
	if least := gittest.Rounds(2000); sum.pairs < least {
		t.Errorf("only %d pairs differ, want %d", sum.pairs, least)
	}
}

// goSource reads text files of the Go installation and groups those whose names
// begin alike, such as zerrors_linux_amd64.go and zerrors_linux_arm64.go.
func goSource(t *testing.T) (files map[string][]byte, families [][]string) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go to ask for its sources:", err)
	}
	src := filepath.Join(strings.TrimSpace(string(out)), "src")
	files = map[string][]byte{}
	members := map[string][]string{}
	for _, dir := range []string{"syscall", "runtime", "os", "net", "internal", "crypto", "math", "go", "encoding", "testing"} {
		err := fs.WalkDir(os.DirFS(src), dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			if info, err := d.Info(); err != nil || info.Size() > maxSourceBytes {
				return err
			}
			content, err := os.ReadFile(filepath.Join(src, filepath.FromSlash(name)))
			if err != nil || len(content) == 0 {
				return err
			}
			files[name] = content
			if stem, _, ok := strings.Cut(path.Base(name), "_"); ok {
				stem = path.Join(path.Dir(name), stem)
				members[stem] = append(members[stem], name)
			}
			return nil
		})
		if err != nil {
			t.Skip("no Go sources to compare:", err)
		}
	}
	for _, family := range members {
		families = append(families, family)
	}
	slices.SortFunc(families, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return files, families
}

// TestRandomTexts compares texts from small vocabularies, where every choice that
// the search and the sliding have comes up often.
func TestRandomTexts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	var pairs []textPair
	for i := range gittest.Rounds(2500) {
		v := vocabularyOf(r, 1+r.IntN(12))
		if i%2 == 0 {
			v = vocabularyOf(r, 1+r.IntN(200))
		}
		n := []int{6, 20, 60, 250, 900}[r.IntN(5)]
		a := v.text(r, 1+r.IntN(n))
		b := v.edited(r, a, r.Float64())
		if r.IntN(3) == 0 {
			b = v.text(r, 1+r.IntN(n))
		}
		pairs = append(pairs, textPair{fmt.Sprintf("random %d", i), clipNewline(r, a), clipNewline(r, b)})
	}
	comparePairs(t, pairs, defaultContext, 0)
}

// TestRandomSpace is TestRandomTexts for lines of little else than white space.
func TestRandomSpace(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	var pairs []textPair
	for i := range gittest.Rounds(2500) {
		var v vocabulary
		for range 2 + r.IntN(6) {
			v.words = append(v.words, spacedLine(r))
		}
		a := v.text(r, 2+r.IntN(60))
		if r.IntN(10) == 0 {
			a = append(a, bytes.Repeat([]byte("\n"), 15+r.IntN(10))...)
			a = append(a, v.text(r, 10)...)
		}
		pairs = append(pairs, textPair{fmt.Sprintf("space %d", i), clipNewline(r, a), clipNewline(r, v.edited(r, a, r.Float64()))})
	}
	comparePairs(t, pairs, defaultContext, 0)
}

// TestRandomBlocks repeats indented blocks, so that the new one can slide far and
// the indentation around it decides.
func TestRandomBlocks(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	var pairs []textPair
	for i := range gittest.Rounds(4000) {
		size := []int{4, 12, 30, 250}[r.IntN(4)]
		block := indentedLines(r, 1+r.IntN(size))
		head, tail := indentedLines(r, r.IntN(4)), indentedLines(r, r.IntN(4))
		part := block[:r.IntN(len(block)+1)]
		if r.IntN(2) == 0 {
			head, part = append(head, block[r.IntN(len(block)):]...), nil
		}
		a := slices.Concat(head, block, part, tail)
		b := slices.Concat(head, block, block, part, tail)
		if r.IntN(2) == 0 {
			a, b = b, a
		}
		pairs = append(pairs, textPair{fmt.Sprintf("block %d", i), []byte(strings.Join(a, "")), []byte(strings.Join(b, ""))})
	}
	comparePairs(t, pairs, defaultContext)
}

// indentedLines makes lines that walk in and out as code does, some of them
// blank.
func indentedLines(r *rand.Rand, n int) (out []string) {
	unit := []string{" ", "  ", "    ", "\t", strings.Repeat("\t", 9)}[r.IntN(5)]
	margin := ""
	if r.IntN(8) == 0 {
		unit, margin = " ", in(197)
	}
	depth, blanks, words := 0, 2+r.IntN(8), 1+r.IntN(n+1)
	for range n {
		depth = max(0, depth+r.IntN(3)-1)
		if r.IntN(blanks) == 0 {
			out = append(out, slices.Repeat([]string{"\n"}, 1+r.IntN(2))...)
			continue
		}
		out = append(out, fmt.Sprintf("%s%s%d\n", margin, strings.Repeat(unit, depth), r.IntN(words)))
	}
	return out
}

// TestMovedBlocks compares texts so large and so much rearranged that the search
// takes its short cuts.
func TestMovedBlocks(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("large texts")
	}
	var pairs []textPair
	for _, c := range movedCases {
		a, b := moved(rand.New(rand.NewPCG(7, c.seed)), c.size)
		pairs = append(pairs, textPair{fmt.Sprintf("moved %v", c), numberLines(a), numberLines(b)})
	}
	comparePairs(t, pairs, defaultContext)
}

// movedCases are chosen so that changing any one of the limits and comparisons of
// myers.go changes an outcome. The search gives up later from 65,536 lines kept
// on both sides together, and later still from 262,144.
var movedCases = []struct {
	size int
	seed uint64
}{{33000, 20}, {33000, 3}, {33000, 24}, {135000, 9}, {135000, 17}}

// moved returns two long sequences; the second is the first with blocks in
// another order and some noise. Nearly every number is in both.
func moved(r *rand.Rand, size int) (a, b []int) {
	size += r.IntN(10000)
	values := size / []int{1, 4, 20}[r.IntN(3)]
	for range size {
		a = append(a, r.IntN(values))
	}
	longest := 22 + r.IntN([]int{60, 2000}[r.IntN(2)])
	var blocks [][]int
	for rest := a; len(rest) > 0; {
		n := min(len(rest), 1+r.IntN(longest))
		blocks = append(blocks, rest[:n])
		rest = rest[n:]
	}
	for range r.IntN(len(blocks)) {
		i, j := r.IntN(len(blocks)), r.IntN(len(blocks))
		if values != size {
			j = min(len(blocks)-1, i+r.IntN(5))
		}
		blocks[i], blocks[j] = blocks[j], blocks[i]
	}
	noise := 2 + r.IntN(40)
	for _, v := range slices.Concat(blocks...) {
		if r.IntN(noise) > 0 {
			b = append(b, v)
		}
		if r.IntN(noise) == 0 {
			b = append(b, a[r.IntN(size)])
		}
	}
	return a, b
}

func numberLines(numbers []int) []byte {
	var out []byte
	for _, n := range numbers {
		out = fmt.Appendf(out, "%d\n", n)
	}
	return out
}

// TestVeryCommonLines has a line that occurs 1,023 and 1,024 times in texts whose
// length alone would allow more.
func TestVeryCommonLines(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("large texts")
	}
	tail := strings.Repeat("\n", 1<<20)
	var pairs []textPair
	for _, n := range []int{1023, 1024} {
		end := strings.Repeat("X\n", n-1) + tail
		a := numbered("u", 1, 20) + "X\n" + numbered("v", 1, 20) + "end\n" + end
		b := numbered("w", 1, 20) + "X\n" + numbered("z", 1, 20) + "end\n" + end
		pairs = append(pairs, textPair{fmt.Sprintf("%d times", n), []byte(a), []byte(b)})
	}
	sum := comparePairs(t, pairs, defaultContext)
	if one, two := Count(pairs[0].a, pairs[0].b), Count(pairs[1].a, pairs[1].b); sum.pairs != 2 || one == two {
		t.Errorf("%d pairs, both %v: the limit was not met", sum.pairs, one)
	}
}

// vocabulary makes texts of its words, a word a line, and of lines that occur
// once.
type vocabulary struct {
	words  []string
	unique float64 // share of lines that occur once
	long   int     // up to so many of them in a row
}

func vocabularyOf(r *rand.Rand, size int) vocabulary {
	var v vocabulary
	depth := 1 + r.IntN(4)
	for i := range size {
		w := strings.Repeat("  ", i%depth)
		if i%5 != 4 {
			w = fmt.Sprintf("%sl%d", w, i)
		}
		v.words = append(v.words, w+"\n")
	}
	if r.IntN(2) == 0 {
		v.unique = r.Float64()
	}
	v.long = 1
	if r.IntN(4) == 0 {
		v.long = 120
	}
	return v
}

func (v vocabulary) text(r *rand.Rand, n int) []byte {
	var out []byte
	for i := 0; i < n; i++ {
		if r.Float64() >= v.unique/float64(max(v.long, 1)) {
			out = append(out, v.words[r.IntN(len(v.words))]...)
			continue
		}
		for range 1 + r.IntN(max(v.long, 1)) {
			out = fmt.Appendf(out, "u%d\n", r.Uint32())
			i++
		}
	}
	return out
}

// edited changes about the given share of the lines.
func (v vocabulary) edited(r *rand.Rand, content []byte, share float64) []byte {
	var out []byte
	for line := range bytes.Lines(content) {
		if r.Float64() < share {
			switch r.IntN(3) {
			case 0:
				continue
			case 1:
				out = append(out, v.text(r, 1+r.IntN(3))...)
			case 2:
				out = append(out, v.text(r, 1)...)
				continue
			}
		}
		out = append(out, line...)
	}
	return out
}

// spacedLine is a line of odd white space, control characters and broken UTF-8.
func spacedLine(r *rand.Rand) string {
	pick := func(n int, from ...string) (s string) {
		for range r.IntN(n) {
			s += from[r.IntN(len(from))]
		}
		return s
	}
	line := pick(4, " ", "\t", "\r", "\f", "\v", "\xa0", "    ", strings.Repeat("\t", 25), "\x00", "\x08", "\x85", "\x1f")
	if r.IntN(3) > 0 {
		line = pick(2, "\t", " ") + pick(2, "a", "}", "Z", "_", "$", "0", "é", "\x80", "\xff", "[", "`", "@", "{") +
			pick(4, "b", " ", "\t", "\r", "\v", "\f", "é", "\xa0", strings.Repeat("long", 16), "x         ")
	}
	return line + "\n"
}

func clipNewline(r *rand.Rand, content []byte) []byte {
	if r.IntN(8) == 0 {
		return bytes.TrimSuffix(content, []byte("\n"))
	}
	return content
}
