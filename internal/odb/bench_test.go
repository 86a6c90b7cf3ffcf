package odb

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// BenchmarkCommit is the store's part of a small capture: lock, 8 or 20 objects of 2 KiB, commit,
// unlock.
func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{8, 20} {
		for _, mode := range []struct {
			name   string
			noSync bool
		}{{"sync", false}, {"nosync", true}} {
			b.Run(fmt.Sprintf("%d/%s", n, mode.name), func(b *testing.B) {
				db := benchStore(b, mode.noSync)
				content := prose(1, 2048)
				for i := 0; b.Loop(); i++ {
					unlock, err := db.Lock(context.Background())
					if err != nil {
						b.Fatal(err)
					}
					batch := db.NewBatch()
					for j := range n {
						binary.BigEndian.PutUint32(content, uint32(i*n+j))
						if _, err := batch.Add(object.Blob, content); err != nil {
							b.Fatal(err)
						}
					}
					if err := batch.Commit(); err != nil {
						b.Fatal(err)
					}
					if _, err := db.Fold(context.Background()); err != nil {
						b.Fatal(err)
					}
					if err := unlock(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func benchStore(b *testing.B, noSync bool) *DB {
	db, err := Create(filepath.Join(b.TempDir(), "store"), testRoot, Options{NoSync: noSync})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	return db
}

// BenchmarkBatch10k writes 10,000 blobs of 4 KiB from two goroutines.
func BenchmarkBatch10k(b *testing.B) {
	blobs := make([][]byte, 10_000)
	for i := range blobs {
		blobs[i] = prose(uint64(i), 4096)
	}
	b.SetBytes(10_000 * 4096)
	for b.Loop() {
		db := benchStore(b, true)
		batch := db.NewBatch()
		var wg sync.WaitGroup
		for half := range 2 {
			wg.Go(func() {
				for i := half; i < len(blobs); i += 2 {
					if _, err := batch.Add(object.Blob, blobs[i]); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if err := batch.Commit(); err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}

// manyPacks returns a store of 60 packs of 50 blobs, and the blobs' ids.
func manyPacks(b *testing.B) (*DB, []object.ID) {
	db := benchStore(b, true)
	var ids []object.ID
	for i := range 60 {
		var blobs []string
		for j := range 50 {
			blobs = append(blobs, string(prose(uint64(i*50+j), 2048)))
		}
		ids = append(ids, commit(b, db, blobs...)...)
	}
	return db, ids
}

func BenchmarkHas60Packs(b *testing.B) {
	db, ids := manyPacks(b)
	db = reopen(b, db)
	var absent []object.ID
	for i := range ids {
		absent = append(absent, blobID(fmt.Sprint("absent ", i)))
	}
	b.Run("hit", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if ok, err := db.Has(ids[i*37%len(ids)]); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
	b.Run("miss", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			id := absent[i%len(ids)]
			if ok, err := db.Has(id); ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
	b.Run("batch-miss", func(b *testing.B) {
		batch := db.NewBatch()
		for i := 0; b.Loop(); i++ {
			id := absent[i%len(ids)]
			if batch.Has(id) {
				b.Fatal("has")
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			db := benchStore(b, true)
			var blobs []string
			for i := range 16 {
				blobs = append(blobs, string(prose(uint64(i), size)))
			}
			ids := commit(b, db, blobs...)
			b.SetBytes(int64(size))
			for i := 0; b.Loop(); i++ {
				if _, _, err := db.Read(ids[i%len(ids)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen60Packs opens a store and reads one object, as every command does first.
func BenchmarkOpen60Packs(b *testing.B) {
	db, ids := manyPacks(b)
	for i := 0; b.Loop(); i++ {
		db, err := Open(db.Dir(), testRoot, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := db.Read(ids[i*37%len(ids)]); err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}

func BenchmarkLock(b *testing.B) {
	db := benchStore(b, true)
	for b.Loop() {
		unlock, err := db.Lock(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if err := unlock(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSetRef(b *testing.B) {
	for _, mode := range []string{"sync", "nosync"} {
		b.Run(mode, func(b *testing.B) {
			db := benchStore(b, mode == "nosync")
			id := object.Sum(object.Blob, nil)
			for i := 0; b.Loop(); i++ {
				if err := db.SetRef(fmt.Sprintf("refs/cairn/sessions/%d", i%50), id); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSweepNothing(b *testing.B) {
	db, _ := manyPacks(b)
	for b.Loop() {
		if err := db.Sweep(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTree writes the files below the directory named by ODB_BENCH_TREE, from
// two goroutines, as a first capture does.
func BenchmarkTree(b *testing.B) {
	tree := os.Getenv("ODB_BENCH_TREE")
	if tree == "" {
		b.Skip("ODB_BENCH_TREE names no directory")
	}
	var paths []string
	filepath.WalkDir(tree, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			paths = append(paths, path)
		}
		return nil
	})
	for b.Loop() {
		db := benchStore(b, true)
		batch := db.NewBatch()
		var total int64
		next := make(chan string, 64)
		var wg sync.WaitGroup
		var mu sync.Mutex
		for range 2 {
			wg.Go(func() {
				for path := range next {
					f, err := os.Open(path)
					if err != nil {
						continue
					}
					if info, err := f.Stat(); err == nil {
						mu.Lock()
						total += info.Size()
						mu.Unlock()
						if _, err := batch.AddBlob(f, info.Size()); err != nil {
							b.Error(err)
						}
					}
					f.Close()
				}
			})
		}
		for _, path := range paths {
			next <- path
		}
		close(next)
		wg.Wait()
		b.ReportMetric(float64(batch.Len()), "objects")
		b.SetBytes(total)
		if err := batch.Commit(); err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}
