package odb

import (
	"bytes"
	"hash/adler32"
	"math/rand/v2"
	"testing"
)

// The checksum is the standard library's for contents of any length, in pieces of any
// size, and where every sum is as large as it can be.
func TestAdler32(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	random := make([]byte, 20_000)
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	for name, data := range map[string][]byte{
		"random": random, "zeros": make([]byte, 20_000), "highest": bytes.Repeat([]byte{0xff}, 20_000),
	} {
		for n := 0; n < len(data); n += 1 + n/40 {
			want := adler32.Checksum(data[:n])
			if got := adlerOf(data[:n]); got != want {
				t.Fatalf("%s, %d bytes: %08x, want %08x", name, n, got, want)
			}
			cut := rng.IntN(n + 1)
			if got := adlerOver(adlerOf(data[:cut]), data[cut:n]); got != want {
				t.Fatalf("%s, %d bytes, cut at %d: %08x, want %08x", name, n, cut, got, want)
			}
		}
	}
}

func adlerOf(p []byte) uint32 { return adlerOver(1, p) }
