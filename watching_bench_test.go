package cairn_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
)

// BenchmarkWatching is what a track costs a Repo that watches, in trees of up to half
// a million files: nothing, one file or a hundred changed. -short leaves the largest
// out.
func BenchmarkWatching(b *testing.B) {
	for _, files := range []int{10_000, 100_000, 500_000} {
		if testing.Short() && files > 100_000 {
			continue
		}
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) { benchmarkWatching(b, files) })
	}
}

func benchmarkWatching(b *testing.B, files int) {
	root := b.TempDir()
	paths := growTree(b, root, files)
	r, err := cairn.Open(cairn.Options{Root: root, DataDir: b.TempDir(), Watch: os.Getenv("NOWATCH") == "", NoSync: os.Getenv("NOSYNC") != ""})
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
			for b.Loop() {
				b.StopTimer()
				for i := range changed {
					path := paths[(i*977+n)%len(paths)]
					if err := os.WriteFile(path, fmt.Appendf(nil, "%s: edit %d\n", path, n), 0o644); err != nil {
						b.Fatal(err)
					}
				}
				n++
				b.StartTimer()
				track(b)
			}
		})
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
