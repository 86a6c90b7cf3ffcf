package odb

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// TestHeadOf: the first bytes of a loose object tell its header, whichever program compressed it and whatever
// follows. Contents of many different bytes have the longest tables.
func TestHeadOf(t *testing.T) {
	t.Parallel()
	for level := zlib.HuffmanOnly; level <= zlib.BestCompression; level++ {
		for seed, size := range []int{0, 1, 100, 3000, 70_000} {
			for _, content := range [][]byte{gittest.Noise(uint64(seed), size), gittest.Prose(uint64(seed), size), make([]byte, size)} {
				var out bytes.Buffer
				z, err := zlib.NewWriterLevel(&out, level)
				must(t, err)
				fmt.Fprintf(z, "blob %d\x00%s", len(content), content)
				must(t, z.Close())
				k, n, err := headOf(bytes.NewReader(out.Bytes()), int64(out.Len()))
				if err != nil || k != object.Blob || n != int64(len(content)) {
					t.Errorf("level %d, %d bytes: %v of %d bytes, %v", level, len(content), k, n, err)
				}
				cut := out.Bytes()[:min(4, out.Len())]
				if _, _, err := headOf(bytes.NewReader(cut), int64(len(cut))); err == nil {
					t.Errorf("level %d: four bytes have a header", level)
				}
			}
		}
	}
	var bomb bytes.Buffer
	z := zlib.NewWriter(&bomb)
	fmt.Fprintf(z, "blob %d\x00", int64(1)<<40)
	must(t, z.Close())
	if _, n, err := headOf(bytes.NewReader(bomb.Bytes()), int64(bomb.Len())); err == nil {
		t.Errorf("%d bytes in %d", n, bomb.Len())
	}
}
