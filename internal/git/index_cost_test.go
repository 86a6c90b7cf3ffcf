package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestIndexAllocations(t *testing.T) {
	x, err := readBytes(t, indexBytes(syntheticIndex(1000), true))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	allocs := testing.AllocsPerRun(10, func() {
		for e := range x.All() {
			n += len(e.Name)
		}
	})
	if allocs > 0 || n == 0 {
		t.Errorf("walking 1000 entries allocates %v times", allocs)
	}
}

// syntheticIndex is the body of an index with n entries of the shape of a real one.
func syntheticIndex(n int) []byte {
	b := header(2, uint32(n))
	names := slices.Sorted(numbered(n))
	for _, name := range names {
		b = append(b, plainEntry(regular, 0, name)...)
	}
	return append(b, extension("TREE", strings.Repeat("x", n*4))...)
}

func BenchmarkReadIndex(b *testing.B) {
	for _, n := range []int{1000, 80_000} {
		path := filepath.Join(b.TempDir(), "index")
		data := indexBytes(syntheticIndex(n), true)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			b.Fatal(err)
		}
		unsummed := path + "-unsummed"
		if err := os.WriteFile(unsummed, indexBytes(syntheticIndex(n), false), 0o644); err != nil {
			b.Fatal(err)
		}
		x, err := ReadIndex(path, false)
		if err != nil {
			b.Fatal(err)
		}
		read := func(path string) func(b *testing.B) {
			return func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := ReadIndex(path, false); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
		b.Run(fmt.Sprintf("read/%d", n), read(path))
		b.Run(fmt.Sprintf("read without checksum/%d", n), read(unsummed))
		b.Run(fmt.Sprintf("walk/%d", n), func(b *testing.B) {
			total := 0
			for b.Loop() {
				for e := range x.All() {
					total += len(e.Name)
				}
			}
		})
		b.Run(fmt.Sprintf("contains/%d", n), func(b *testing.B) {
			for b.Loop() {
				if !x.HasUnder("dir001/sub1") || x.Contains("dir001/none") {
					b.Fatal("wrong answer")
				}
			}
		})
	}
}
