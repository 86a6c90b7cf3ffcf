//go:build unix

package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// BenchmarkRolling tracks 1,100 changes of one file among 2,000, with room for a few
// hundred checkpoints. It compares what a track costs while the store grows, around the
// 10th, with what it costs while the store rolls, around the 1,000th, cleanings included.
func BenchmarkRolling(b *testing.B) {
	for _, kib := range []int{4, 32} {
		b.Run(fmt.Sprintf("%dKiB", kib), func(b *testing.B) {
			for range b.N {
				rolling(b, kib<<10)
			}
		})
	}
}

func rolling(b *testing.B, size int) {
	tree := gittest.Tree{}
	for i := range 2000 {
		tree[fmt.Sprintf("dir%d/file%d", i%50, i)] = gittest.File(fmt.Sprint("file ", i))
	}
	root := b.TempDir()
	gittest.Create(b, root, tree)
	r, err := cairn.Open(cairn.Options{Root: root, DataDir: b.TempDir(),
		Retention: &cairn.Retention{MaxBytes: int64(size)*300 + 1<<20, MinFree: cairn.NoLimit}})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	cleanings := r.CountCleanings()
	took := make([]time.Duration, 1100)
	var cpu [3]time.Duration
	for i := range took {
		if err := os.WriteFile(filepath.Join(root, "dir7", "file7"), []byte(noise(i+1, size)), 0o600); err != nil {
			b.Fatal(err)
		}
		switch i {
		case 5, 105, 900:
			cpu[min(i/100, 2)] = cpuTime()
		}
		begun := time.Now()
		if _, err := r.Track(background, cairn.TrackOptions{}); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(begun)
	}
	early, late := mean(took[5:105]), mean(took[900:1100])
	b.ReportMetric(float64(early.Microseconds()), "us/10th")
	b.ReportMetric(float64(late.Microseconds()), "us/1000th")
	b.ReportMetric(float64((cpuTime()-cpu[2]).Microseconds())/200/(float64((cpu[1]-cpu[0]).Microseconds())/100), "cpu-ratio")
	b.ReportMetric(float64(late)/float64(early), "ratio")
	b.ReportMetric(float64(slices.Max(took[900:]).Milliseconds()), "ms-max")
	b.ReportMetric(float64(cleanings()), "cleanings")
}

func mean(took []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range took {
		sum += d
	}
	return sum / time.Duration(len(took))
}
