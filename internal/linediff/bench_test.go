package linediff

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const (
	bigLines  = 1 << 20
	bigMemory = 220 << 20 // besides the two texts
)

// bigTexts are pairs of 32 MiB in 2^20 lines each.
var bigTexts = []struct {
	name string
	line func(r *rand.Rand, i int) uint64
}{
	{"nothing in common", func(r *rand.Rand, i int) uint64 { return r.Uint64() }},
	{"half in common", func(r *rand.Rand, i int) uint64 {
		if r.IntN(2) == 0 {
			return uint64(i)
		}
		return r.Uint64()
	}},
	{"most in common", func(r *rand.Rand, i int) uint64 {
		if r.IntN(100) > 0 {
			return uint64(i)
		}
		return r.Uint64()
	}},
}

func bigText(seed uint64, line func(r *rand.Rand, i int) uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	out := make([]byte, 0, 32*bigLines)
	for i := range bigLines {
		out = fmt.Appendf(out, "%031x\n", line(r, i))
	}
	return out
}

// TestMemory bounds all that is allocated, garbage included, for two large texts.
// It does not run in parallel: it reads counters of the whole process.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("large texts")
	}
	for _, c := range bigTexts {
		a, b := bigText(1, c.line), bigText(2, c.line)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := WriteUnified(io.Discard, a, b, Options{}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		got := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d MiB", c.name, got>>20)
		if got > bigMemory {
			t.Errorf("%s: %d MiB allocated, want at most %d", c.name, got>>20, bigMemory>>20)
		}
	}
}

func BenchmarkBig(b *testing.B) {
	for _, c := range bigTexts {
		x, y := bigText(1, c.line), bigText(2, c.line)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(x) + len(y)))
			b.ReportAllocs()
			for b.Loop() {
				benchUnified(b, x, y)
			}
		})
	}
}

// BenchmarkHostile compares texts on which the search has to give up again and
// again: 2^17 lines of few words, and as many lines in another order.
func BenchmarkHostile(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	words := func(n int) []byte {
		numbers := make([]int, 1<<17)
		for i := range numbers {
			numbers[i] = r.IntN(n)
		}
		return numberLines(numbers)
	}
	for _, c := range []struct {
		name string
		x, y []byte
	}{
		{"2 words", words(2), words(2)},
		{"1000 words", words(1000), words(1000)},
		{"shuffled", numberLines(r.Perm(1 << 17)), numberLines(r.Perm(1 << 17))},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				benchUnified(b, c.x, c.y)
			}
		})
	}
}

// BenchmarkSource compares a file of this package with a mutant of it.
func BenchmarkSource(b *testing.B) {
	x, err := os.ReadFile("myers.go")
	if err != nil {
		b.Fatal(err)
	}
	y := mutant(rand.New(rand.NewPCG(1, 1)), x)
	long := bytes.Repeat(x, 30)
	longer := slices.Concat(bytes.Repeat(x, 15), y, bytes.Repeat(x, 14))
	for _, c := range []struct {
		name string
		x, y []byte
	}{{"300 lines", x, y}, {"9000 lines", long, longer}} {
		b.Run("Count/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Count(c.x, c.y)
			}
		})
		b.Run("WriteUnified/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				benchUnified(b, c.x, c.y)
			}
		})
	}
	b.Run("Merge", func(b *testing.B) {
		z := mutant(rand.New(rand.NewPCG(1, 3)), x)
		b.ReportAllocs()
		for b.Loop() {
			Merge(x, y, z)
		}
	})
}

// BenchmarkAddition sets a text that is all new against copying it.
func BenchmarkAddition(b *testing.B) {
	text := []byte(strings.Repeat("a line of source code, not too short, not too long\n", 200000))
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			var buf bytes.Buffer
			buf.Write(text)
		}
	})
	b.Run("Count", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			Count(nil, text)
		}
	})
	b.Run("WriteUnified", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			benchUnified(b, nil, text)
		}
	})
}

func benchUnified(b *testing.B, x, y []byte) {
	b.Helper()
	if _, err := WriteUnified(io.Discard, x, y, Options{}); err != nil {
		b.Fatal(err)
	}
}
