package cairn_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// BenchmarkWatching is what a track costs a Repo that watches, in trees of up to half
// a million files: nothing, one file or a hundred changed, with and without a wait for
// the disk. -short leaves the largest out.
func BenchmarkWatching(b *testing.B) {
	for _, files := range []int{10_000, 100_000, 500_000} {
		if testing.Short() && files > 100_000 {
			continue
		}
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			root := b.TempDir()
			paths := growTree(b, root, files)
			for _, sync := range []bool{true, false} {
				b.Run(fmt.Sprintf("sync=%v", sync), func(b *testing.B) { benchmarkWatching(b, root, paths, sync) })
			}
		})
	}
}

func benchmarkWatching(b *testing.B, root string, paths []string, sync bool) {
	r, err := cairn.Open(cairn.Options{Root: root, DataDir: b.TempDir(), Watch: true, NoSync: !sync})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	track := func(b *testing.B) {
		if _, err := r.Track(context.Background(), cairn.TrackOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	track(b)
	track(b)
	for _, changed := range []int{0, 1, 100} {
		n := 0
		b.Run(fmt.Sprintf("changed=%d", changed), func(b *testing.B) {
			b.ReportAllocs()
			var times []time.Duration
			for b.Loop() {
				for i := range changed {
					edit(b, paths[(i*977+n)%len(paths)], n)
				}
				n++
				began := time.Now()
				track(b)
				times = append(times, time.Since(began))
			}
			reportTimes(b, times)
		})
	}
}

// reportTimes reports the mean of the times in place of that of the whole loop: to stop
// the benchmark's timer stops all goroutines, too.
func reportTimes(b *testing.B, times []time.Duration) {
	var sum time.Duration
	for _, t := range times {
		sum += t
	}
	slices.Sort(times)
	b.ReportMetric(float64(sum.Nanoseconds())/float64(len(times)), "ns/op")
	for _, p := range []int{50, 90, 99} {
		b.ReportMetric(float64(times[len(times)*p/100].Nanoseconds()), fmt.Sprintf("p%d-ns", p))
	}
	b.ReportMetric(float64(times[len(times)-1].Nanoseconds()), "max-ns")
}

func edit(b *testing.B, path string, n int) {
	if err := os.WriteFile(path, fmt.Appendf(nil, "%s: edit %d\n", path, n), 0o644); err != nil {
		b.Fatal(err)
	}
}

// growTree makes files in directories of 15, below two levels of 30 directories.
func growTree(b *testing.B, root string, files int) (paths []string) {
	for i := range files {
		dir := filepath.Join(root, fmt.Sprintf("part%02d/group%02d/dir%02d", i/13500, i/450%30, i/15%30))
		if i%15 == 0 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		path := filepath.Join(dir, fmt.Sprintf("file%02d.txt", i%15))
		if err := os.WriteFile(path, fmt.Appendf(nil, "%s\n", path), 0o644); err != nil {
			b.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}
