package cairn_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// BenchmarkDiffFullOfManyFiles compares 1,000 files of 128 KiB, 250 MB on both sides,
// and reports what lives in memory at most, the file just yielded included.
func BenchmarkDiffFullOfManyFiles(b *testing.B) {
	root := b.TempDir()
	repo, err := cairn.Open(cairn.Options{Root: root, DataDir: b.TempDir(), NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer repo.Close()
	state := func(version string) string {
		for i := range 1000 {
			text := bytes.Repeat(fmt.Appendf(nil, "line of file %d, unchanged, of some length\n", i), 3200)
			if err := os.WriteFile(filepath.Join(root, fmt.Sprint(i)), append(text[:128<<10], version...), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		t, err := repo.Track(b.Context(), cairn.TrackOptions{})
		if err != nil {
			b.Fatal(err)
		}
		return t.Hash
	}
	from, to := state("one"), state("another")
	live := uint64(0)
	for b.Loop() {
		n := 0
		for d, err := range repo.DiffFull(b.Context(), from, to, cairn.DiffOptions{}) {
			if err != nil || d.Additions != 1 {
				b.Fatal(d.File, d.Additions, err)
			}
			if n++; n%250 == 0 {
				b.StopTimer()
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				live = max(live, m.HeapAlloc)
				b.StartTimer()
			}
		}
		if n != 1000 {
			b.Fatalf("%d files", n)
		}
	}
	b.ReportMetric(float64(live)/1e6, "live-MB")
}
