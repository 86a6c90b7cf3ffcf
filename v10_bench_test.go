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

// BenchmarkRolling compares what a track costs in a store that rolls, around its 1,000th,
// with what it costs in one that grows, around its 10th. Both have one file among 2,000 that
// changes, and room for a few hundred checkpoints. They take turns, so that both meet the
// same load of the machine. The cleanings of the store that rolls are included.
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
	old := newTracked(b, size)
	cleanings := old.repo.CountCleanings()
	for range 900 {
		old.track()
	}
	early, late := &spent{}, &spent{}
	for range 4 {
		young := newTracked(b, size)
		for range 5 {
			young.track()
		}
		for range 100 {
			early.add(young.track())
			late.add(old.track())
		}
	}
	b.ReportMetric(mean(early.took), "us/10th")
	b.ReportMetric(mean(late.took), "us/1000th")
	b.ReportMetric(mean(late.cpu)/mean(early.cpu), "cpu-ratio")
	b.ReportMetric(mean(late.took)/mean(early.took), "ratio")
	b.ReportMetric(float64(slices.Max(late.took).Milliseconds()), "ms-max")
	b.ReportMetric(float64(cleanings()), "cleanings")
}

// tracked is a directory with a store whose size is bounded.
type tracked struct {
	b    *testing.B
	root string
	repo *cairn.Repo
	size int // of the file that changes
	n    int // tracks so far
}

func newTracked(b *testing.B, size int) *tracked {
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
	b.Cleanup(func() { r.Close() })
	return &tracked{b: b, root: root, repo: r, size: size}
}

func (t *tracked) track() (took, cpu time.Duration) {
	t.n++
	if err := os.WriteFile(filepath.Join(t.root, "dir7", "file7"), []byte(noise(t.n, t.size)), 0o600); err != nil {
		t.b.Fatal(err)
	}
	begun, used := time.Now(), cpuTime()
	if _, err := t.repo.Track(background, cairn.TrackOptions{}); err != nil {
		t.b.Fatal(err)
	}
	return time.Since(begun), cpuTime() - used
}

// spent is what tracks took, by the clock and of the processors.
type spent struct{ took, cpu []time.Duration }

func (s *spent) add(took, cpu time.Duration) {
	s.took, s.cpu = append(s.took, took), append(s.cpu, cpu)
}

// mean is in microseconds.
func mean(took []time.Duration) float64 {
	var sum time.Duration
	for _, d := range took {
		sum += d
	}
	return float64(sum.Microseconds()) / float64(len(took))
}
