package apply

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchFiles is a tree of 10,000 files of 2 KiB in 1,000 directories.
func benchFiles(blobs *memorySource, version string) []Change {
	changes := make([]Change, 0, 10_000)
	for i := range cap(changes) {
		data := fmt.Sprintf("%s %d\n%s", version, i, strings.Repeat("x", 2048))
		changes = append(changes, Change{
			Path: fmt.Sprintf("d%02d/e%d/file%d.go", i%100, i/100%10, i), Action: Create, Mode: 0o100644, Perm: 0o644, ID: blobs.put(data),
		})
	}
	return changes
}

// BenchmarkApply restores 10,000 small files, into nothing and over other ones, and
// beside it writes them as plainly as it can be done safely: temporary file, rename.
func BenchmarkApply(b *testing.B) {
	blobs := &memorySource{}
	created, modified := benchFiles(blobs, "one"), benchFiles(blobs, "two")
	perFile := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(created)), "µs/file")
	}
	apply := func(b *testing.B, root string, changes []Change) {
		a := &Executor{Root: root, Source: blobs, Token: "bench"}
		outcomes, err := a.Run(context.Background(), changes, nil)
		must(b, err)
		for _, out := range outcomes {
			must(b, out.Err)
		}
	}
	b.Run("create", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			root := b.TempDir()
			b.StartTimer()
			apply(b, root, created)
		}
		perFile(b)
	})
	b.Run("modify", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			root := b.TempDir()
			apply(b, root, created)
			for i := range modified {
				modified[i].Action, modified[i].Was = Modify, expect(b, root, modified[i].Path)
			}
			b.StartTimer()
			apply(b, root, modified)
		}
		perFile(b)
	})
	b.Run("create-floor", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			root := b.TempDir()
			b.StartTimer()
			writePlainly(b, root, blobs, created)
		}
		perFile(b)
	})
	b.Run("modify-floor", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			root := b.TempDir()
			apply(b, root, created)
			b.StartTimer()
			writePlainly(b, root, blobs, modified)
		}
		perFile(b)
	})
}

func writePlainly(b *testing.B, root string, blobs *memorySource, changes []Change) {
	for i := range changes {
		at := filepath.Join(root, changes[i].Path)
		must(b, os.MkdirAll(filepath.Dir(at), 0o755))
		must(b, os.WriteFile(at+".tmp", []byte(blobs.data[changes[i].ID]), 0o644))
		must(b, os.Rename(at+".tmp", at))
	}
}

// BenchmarkApplyFlushed restores 100 files of 10 KiB in as many directories, with and
// without flushes. TMPDIR says on which file system; "together" flushes as if that kept
// order, "as found" as it is.
func BenchmarkApplyFlushed(b *testing.B) {
	blobs := &memorySource{}
	versions := make([][]Change, 2)
	for i := range 100 {
		for v := range versions {
			data := fmt.Sprintf("%d %d\n%s", v, i, strings.Repeat("x", 10<<10))
			versions[v] = append(versions[v], Change{
				Path: fmt.Sprintf("d%02d/e%d/file.go", i%10, i/10), Action: Create, Mode: 0o100644, Perm: 0o644, ID: blobs.put(data),
			})
		}
	}
	for _, mode := range []struct {
		name  string
		sync  bool
		order func(*os.File) (uint64, bool)
	}{{"none", false, nil}, {"alone", true, notOrdered}, {"together", true, takenForOrdered}, {"as-found", true, nil}} {
		b.Run(mode.name, func(b *testing.B) {
			a := &Executor{Root: b.TempDir(), Source: blobs, Token: "bench", Sync: mode.sync, order: mode.order}
			for n := 0; b.Loop(); n++ {
				changes := versions[n%2]
				b.StopTimer()
				for i := range changes {
					changes[i].Was = expect(b, a.Root, changes[i].Path)
					if changes[i].Was != nil {
						changes[i].Action = Modify
					}
				}
				b.StartTimer()
				outcomes, err := a.Run(context.Background(), changes, nil)
				must(b, err)
				for _, out := range outcomes {
					must(b, out.Err)
				}
			}
		})
	}
}
