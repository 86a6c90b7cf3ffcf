package cairn_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// costTrees is how many files the trees have whose watching is priced. -short leaves
// the largest out.
func costTrees(b *testing.B, run func(b *testing.B, root, data string, files int)) {
	for _, files := range []int{10_000, 100_000, 500_000} {
		if testing.Short() && files > 100_000 {
			continue
		}
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			root, data := b.TempDir(), b.TempDir()
			growTree(b, root, files)
			run(b, root, data, files)
		})
	}
}

// opened is a Repo that has tracked once, which the caller closes.
func opened(b *testing.B, root, data string, watch bool) *cairn.Repo {
	r, err := cairn.Open(cairn.Options{Root: root, DataDir: data, Watch: watch, NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := r.Track(context.Background(), cairn.TrackOptions{}); err != nil {
		b.Fatal(err)
	}
	return r
}

// BenchmarkWatchingSetUp is what an unchanged first track of a Repo that watches takes
// beyond one of a Repo that does not, for each directory. They take turns, and the best
// of each counts: -benchtime 20x.
func BenchmarkWatchingSetUp(b *testing.B) {
	costTrees(b, func(b *testing.B, root, data string, files int) {
		best := [2]time.Duration{time.Hour, time.Hour}
		directories := 0
		opened(b, root, data, false).Close()
		for b.Loop() {
			for i, watch := range []bool{false, true} {
				begun := time.Now()
				r := opened(b, root, data, watch)
				best[i] = min(best[i], time.Since(begun))
				if watch {
					directories = r.Watching().Directories
				}
				r.Close()
			}
		}
		if directories == 0 {
			b.Skip("no watching here")
		}
		b.ReportMetric(best[0].Seconds()*1e3, "scan-ms")
		b.ReportMetric((best[1]-best[0]).Seconds()*1e6/float64(directories), "µs/directory")
	})
}

// BenchmarkWatchingMemory is what a Repo that watches holds for each file, of the heap
// after a collection: after the first track of all (first), of one that finds a stat
// cache (opened), and after edits (edited); and then what the process holds of memory
// more than before (resident). The kernel's part is not in it: some 170 bytes a
// directory, and the inodes, which it would mostly keep anyway.
func BenchmarkWatchingMemory(b *testing.B) {
	costTrees(b, func(b *testing.B, root, _ string, files int) {
		for b.Loop() {
			data := b.TempDir()
			heap := inUse()
			debug.FreeOSMemory()
			rss := resident()
			perFile := func(name string, now, before uint64) {
				b.ReportMetric(max(float64(now)-float64(before), 0)/float64(files), name+"-B/file")
			}
			r := opened(b, root, data, true)
			perFile("first", inUse(), heap)
			r.Close()
			r = opened(b, root, data, true)
			perFile("opened", inUse(), heap)
			for i := range 50 {
				if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("part00/group%02d/dir%02d/new", i%20, i%10)), fmt.Append(nil, i), 0o644); err != nil {
					b.Fatal(err)
				}
				if _, err := r.Track(context.Background(), cairn.TrackOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			perFile("resident", resident(), rss)
			perFile("edited", inUse(), heap)
			r.Close()
		}
	})
}

func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// resident is 0 where the system does not say.
func resident() (bytes uint64) {
	data, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			_, _ = fmt.Sscan(rest, &bytes)
		}
	}
	return bytes << 10
}
