package deflate

import (
	"bytes"
	"compress/flate"
	"io"
	"math/rand/v2"
	"testing"
)

// inflate is what the standard library makes of it.
func inflate(t testing.TB, data []byte) []byte {
	t.Helper()
	in := bytes.NewReader(data)
	out, err := io.ReadAll(flate.NewReader(in))
	if err != nil {
		t.Fatalf("inflate: %v", err)
	}
	if in.Len() > 0 {
		t.Fatalf("%d bytes after the end of the stream", in.Len())
	}
	return out
}

func check(t testing.TB, c *Compressor, name string, src []byte) (size int) {
	t.Helper()
	out := c.Append([]byte("before"), src)
	if string(out[:6]) != "before" {
		t.Fatalf("%s: what was there before is %q", name, out[:6])
	}
	if !bytes.Equal(inflate(t, out[6:]), src) {
		t.Fatalf("%s: %d bytes come back as others", name, len(src))
	}
	if most := len(src) + 5*(len(src)/maxBlock+1) + 1; len(out)-6 > most {
		t.Fatalf("%s: %d bytes take %d", name, len(src), len(out)-6)
	}
	return len(out) - 6
}

func random(seed uint64, n, letters int) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(rng.IntN(letters))
	}
	return data
}

// words is like text: pieces that come again at all distances.
func words(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 2))
	var data []byte
	for len(data) < n {
		if len(data) > 20 && rng.IntN(3) > 0 {
			from := rng.IntN(len(data) - 10)
			data = append(data, data[from:min(len(data), from+3+rng.IntN(400))]...)
			continue
		}
		data = append(data, random(rng.Uint64(), 1+rng.IntN(20), 64)...)
	}
	return data[:n]
}

// Contents of all lengths up to some, and around the borders of blocks and of distances.
func TestLengths(t *testing.T) {
	t.Parallel()
	var c Compressor
	var lengths []int
	for n := range 600 {
		lengths = append(lengths, n)
	}
	for _, border := range []int{maxDistance, maxBlock, 1 << 16, 2 * maxBlock, 1 << 17} {
		for n := border - 10; n < border+10; n++ {
			lengths = append(lengths, n)
		}
	}
	for _, n := range lengths {
		check(t, &c, "zeros", make([]byte, n))
		check(t, &c, "two letters", random(uint64(n), n, 2))
		check(t, &c, "words", words(uint64(n), n))
		check(t, &c, "noise", random(uint64(n), n, 256))
	}
}

// A match as far away as is possible, and one byte farther.
func TestDistances(t *testing.T) {
	t.Parallel()
	var c Compressor
	piece := random(1, 200, 256)
	for distance := maxDistance - 3; distance <= maxDistance+3; distance++ {
		src := append(append(append([]byte(nil), piece...), make([]byte, distance-len(piece))...), piece...)
		size := check(t, &c, "two pieces", src)
		if near := size < 7*len(piece)/4; near != (distance <= maxDistance) {
			t.Errorf("distance %d: %d bytes", distance, size)
		}
	}
	// Positions come again in the table after 64 KiB: what it finds there is none.
	src := append(append(append([]byte(nil), piece...), make([]byte, 1<<16-len(piece))...), piece...)
	check(t, &c, "64 KiB apart", src)
}

// Counts like Fibonacci's numbers make the longest codes, which have to be shortened.
func TestLongCodes(t *testing.T) {
	t.Parallel()
	var a alphabet
	for _, limit := range []int{7, maxBits} {
		clear(a.counts[:])
		x, y := uint32(1), uint32(1)
		symbols := 19
		for i := range symbols {
			a.counts[i] = x
			x, y = y, x+y
		}
		a.build(maxSymbols, limit)
		room := 1 << limit
		for i := range symbols {
			n := int(a.codes[i].len())
			if n == 0 || n > limit {
				t.Fatalf("limit %d: symbol %d has %d bits", limit, i, n)
			}
			if i > 0 && n > int(a.codes[i-1].len()) {
				t.Errorf("limit %d: symbol %d has more bits than one that is rarer", limit, i)
			}
			room -= 1 << (limit - n)
		}
		if room != 0 {
			t.Errorf("limit %d: the code leaves %d places", limit, room)
		}
	}
	var src []byte
	x, y := 1, 1
	for letter := range 23 {
		src = append(src, bytes.Repeat([]byte{byte(letter)}, min(x, 20_000))...)
		x, y = y, x+y
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(src), func(i, j int) { src[i], src[j] = src[j], src[i] })
	check(t, new(Compressor), "letters", src)
}

// A code is as short as Huffman's: that of one who looks for the two lightest each time.
func TestCodesAreShortest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	for range 500 {
		var a alphabet
		var weights []int
		for i := range 2 + rng.IntN(maxSymbols-2) {
			a.counts[i] = uint32(1 + rng.IntN(1<<rng.IntN(8)))
			weights = append(weights, int(a.counts[i]))
		}
		a.build(maxSymbols, maxBits)
		if got, want := a.bits(maxSymbols, &a.codes), lightestTwo(weights); got != want {
			t.Fatalf("%d symbols: %d bits, want %d", len(weights), got, want)
		}
	}
}

func lightestTwo(weights []int) (bits int) {
	for len(weights) > 1 {
		for i := range 2 {
			for j := range weights {
				if j > i && weights[j] < weights[i] {
					weights[i], weights[j] = weights[j], weights[i]
				}
			}
		}
		bits += weights[0] + weights[1]
		weights[1] += weights[0]
		weights = weights[1:]
	}
	return bits
}

// What a compressor made before has no influence.
func TestDependsOnNothing(t *testing.T) {
	t.Parallel()
	var used Compressor
	for i := range uint64(50) {
		src := words(i, int(i*i*40))
		var fresh Compressor
		if !bytes.Equal(used.Append(nil, src), fresh.Append(nil, src)) {
			t.Fatalf("%d bytes: a used compressor makes something else", len(src))
		}
	}
}

// What is appended to may have room, or none, and keeps what lies in it.
func TestAppends(t *testing.T) {
	t.Parallel()
	var c Compressor
	src := words(9, 5000)
	want := c.Append(nil, src)
	for room := range 40 {
		dst := make([]byte, 3, 3+room*100)
		if got := c.Append(dst, src); !bytes.Equal(got[3:], want) {
			t.Errorf("with room for %d bytes: something else", room*100)
		}
	}
}

// Contents of any length can be stored as they are.
func TestAppendStored(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, maxBlock - 1, maxBlock, maxBlock + 1, 2 * maxBlock, 2*maxBlock + 1} {
		src := random(uint64(n), n, 256)
		out := AppendStored([]byte("before"), src)
		if !bytes.Equal(inflate(t, out[6:]), src) || len(out) > 6+n+5*(n/maxBlock+1) {
			t.Errorf("%d bytes take %d, or come back as others", n, len(out)-6)
		}
	}
}

func FuzzAppend(f *testing.F) {
	f.Add([]byte("a cairn is a stack of stones left along a trail"), 3)
	f.Add([]byte{0}, 70_000)
	f.Add(random(1, 300, 256), 500)
	f.Fuzz(func(t *testing.T, piece []byte, times int) {
		if len(piece) == 0 || times < 0 || len(piece)*(times%1000) > 1<<20 {
			return
		}
		var c Compressor
		check(t, &c, "pieces", bytes.Repeat(piece, times%1000))
		check(t, &c, "piece", piece)
	})
}

// BenchmarkAppend compresses contents like text of some sizes.
func BenchmarkAppend(b *testing.B) {
	for name, n := range map[string]int{"1KB": 1 << 10, "16KB": 16 << 10, "1MB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			var c Compressor
			src := words(1, n)
			var out []byte
			b.SetBytes(int64(n))
			for b.Loop() {
				out = c.Append(out[:0], src)
			}
			b.ReportMetric(float64(len(out))/float64(n), "share")
		})
	}
}
