package pack

import (
	"bytes"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"testing"
)

// deflated is data as a zlib stream of a level.
func deflated(tb testing.TB, data []byte, level int) []byte {
	tb.Helper()
	var out bytes.Buffer
	zw, err := zlib.NewWriterLevel(&out, level)
	must(tb, err)
	_, err = zw.Write(data)
	must(tb, err)
	must(tb, zw.Close())
	return out.Bytes()
}

var zlibLevels = []int{zlib.HuffmanOnly, zlib.NoCompression, zlib.BestSpeed, zlib.DefaultCompression, zlib.BestCompression}

// randomDelta is a delta between two sizes with copies and insertions.
func randomDelta(rng *rand.Rand, from, to int64) []byte {
	delta := appendVarint(appendVarint(nil, from), to)
	for range rng.IntN(300) {
		if rng.IntN(2) == 0 {
			delta = append(delta, 0xb3, byte(rng.IntN(256)), byte(rng.IntN(16)), byte(rng.IntN(256)), byte(rng.IntN(4)))
			continue
		}
		n := 1 + rng.IntN(40)
		delta = append(delta, byte(n))
		for range n {
			delta = append(delta, "etaoin shrdlu\n"[rng.IntN(14)])
		}
	}
	return delta
}

func appendVarint(b []byte, n int64) []byte {
	for ; n > 0x7f; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// The size of the object that a delta makes is found at the beginning of the stream, and never another one: not of
// streams that are cut off either.
func TestResultSizeIn(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	found, all := 0, 0
	for range 300 {
		to := rng.Int64N(1 << (1 + rng.IntN(40)))
		delta := randomDelta(rng, rng.Int64N(1<<(1+rng.IntN(40))), to)
		for _, level := range zlibLevels {
			z := deflated(t, delta, level)
			if size, ok := resultSizeIn(z[:min(len(z), ZlibReach)]); ok {
				found++
				if size != to {
					t.Fatalf("level %d: %d, want %d", level, size, to)
				}
			}
			all++
			for cut := range min(len(z), 120) {
				if size, ok := resultSizeIn(z[:cut]); ok && size != to {
					t.Fatalf("level %d, cut off after %d: %d, want %d", level, cut, size, to)
				}
			}
		}
	}
	if found < all*95/100 {
		t.Errorf("%d of %d sizes are found, want nearly all", found, all)
	}
}

// FuzzLeadingLiterals: the beginning of a stream is what the standard library makes of it.
func FuzzLeadingLiterals(f *testing.F) {
	for _, level := range zlibLevels {
		f.Add(deflated(f, randomDelta(rand.New(rand.NewPCG(1, 2)), 1000, 2000), level))
		f.Add(deflated(f, nil, level))
	}
	f.Fuzz(func(t *testing.T, z []byte) {
		got := LeadingLiterals(make([]byte, 0, maxDeltaHead), z)
		zr, err := zlib.NewReader(bytes.NewReader(z))
		if err != nil {
			if len(got) > 0 {
				t.Fatalf("%q from a stream that is none: %v", got, err)
			}
			return
		}
		want, err := io.ReadAll(io.LimitReader(zr, fuzzMost))
		if err == nil && !bytes.HasPrefix(want, got) {
			t.Fatalf("%q, want the beginning of %.60q", got, want)
		}
	})
}

// BenchmarkResultSize compares the beginning of a delta with an inflater.
func BenchmarkResultSize(b *testing.B) {
	delta := randomDelta(rand.New(rand.NewPCG(3, 3)), 30_000, 31_000)
	z := deflated(b, delta, zlib.DefaultCompression)
	b.Run("literals", func(b *testing.B) {
		for b.Loop() {
			if size, ok := resultSizeIn(z); !ok || size != 31_000 {
				b.Fatal(size, ok)
			}
		}
	})
	b.Run("inflater", func(b *testing.B) {
		const off = HeadSize + 1 // of an entry whose base begins a byte before
		entry := append(appendEntryHead(make([]byte, off), OfsDelta, int64(len(delta))), 1)
		src := bytes.NewReader(append(entry, z...))
		for b.Loop() {
			z := NewInflater(src, off, src.Size())
			e := must1(z.Entry(off))
			if size, err := resultSize(e, z); err != nil || size != 31_000 {
				b.Fatal(size, err)
			}
			z.Release()
		}
	})
}
