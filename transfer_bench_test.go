package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// BenchmarkSealed measures push and fetch, open and sealed in turn: everything at the first time, and then one
// turn of an agent. The remote is a directory.
func BenchmarkSealed(b *testing.B) {
	o := gittest.NewOracle(b)
	spent, bytes := make(map[string]time.Duration), make(map[string]int64)
	timed := func(what string, f func() error) {
		begin := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		spent[what] += time.Since(begin)
	}
	modes := []string{"open", "sealed"}
	for round := range b.N {
		root, data := b.TempDir(), b.TempDir()
		gittest.Create(b, root, sourceTree(round))
		for _, mode := range modes {
			dir := filepath.Join(b.TempDir(), "remote.git")
			o.In(filepath.Dir(dir), "init", "-q", "--bare", "--template=", dir)
			opt, other := cairn.Options{Root: root, DataDir: data}, cairn.Options{Root: root, DataDir: b.TempDir()}
			if mode == "sealed" {
				seal := sealing(b)
				seal(&opt)
				seal(&other)
			}
			from, to := mustOpen(b, opt), mustOpen(b, other)
			for _, when := range []string{"first", "turn"} {
				text := fmt.Sprintln("a turn", when, mode, round)
				if err := os.WriteFile(filepath.Join(root, "d1", "f1"), []byte(text), 0o644); err != nil {
					b.Fatal(err)
				}
				if _, err := from.Track(b.Context(), cairn.TrackOptions{}); err != nil {
					b.Fatal(err)
				}
				timed(mode+"-"+when+"-push", func() error { _, err := from.Push(b.Context(), dir); return err })
				timed(mode+"-"+when+"-fetch", func() error { _, err := to.Fetch(b.Context(), dir); return err })
				bytes[mode+"-"+when] += sizeOf(b, dir)
			}
		}
		modes[0], modes[1] = modes[1], modes[0]
	}
	b.ReportMetric(0, "ns/op")
	for what, d := range spent {
		b.ReportMetric(float64(d.Microseconds())/1000/float64(b.N), what+"-ms")
	}
	for what, n := range bytes {
		b.ReportMetric(float64(n)/1024/float64(b.N), what+"-KiB")
	}
}

func mustOpen(b *testing.B, opt cairn.Options) *cairn.Repo {
	r, err := cairn.Open(opt)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close() })
	return r
}

// sourceTree has 2,000 files of some 5 KiB, which compress as sources do.
func sourceTree(seed int) gittest.Tree {
	tree := make(gittest.Tree)
	for i := range 2000 {
		text := ""
		for line := range 100 {
			text += fmt.Sprintf("\tresult := compute(%d, value%d) // of file %d\n", line*i+seed, line%7, i)
		}
		tree[fmt.Sprintf("d%d/f%d", i%50, i)] = gittest.File(text)
	}
	return tree
}

func sizeOf(b *testing.B, dir string) (size int64) {
	err := filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		size += info.Size()
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return size
}
