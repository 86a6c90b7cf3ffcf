package index_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// largeIndex is that of a tree like the Linux kernel's: 80,000 names in 5,000
// directories.
func largeIndex() *index.Index {
	x := index.New()
	for i := range 5000 {
		x.Put(largeDir(i, 0))
	}
	x.SetPrivate([]string{"pack-0123456789abcdef0123456789abcdef01234567.pack"}, []byte(`{"signature":"x"}`))
	return x
}

func largeDir(i, version int) *index.Dir {
	d := &index.Dir{Path: fmt.Sprintf("drivers/subsystem_%02d/component_%d", i%70, i), Tree: object.Sum(object.Blob, fmt.Append(nil, i))}
	for j := range 16 {
		d.Raw = index.Append(d.Raw, &index.Entry{
			Name: fmt.Sprintf("source_file_%02d.c", j), Mode: object.Regular, Perm: 0o644, ID: d.Tree,
			Stat: index.Stat{Size: int64(i), MTime: 1 << 60, CTime: 1<<60 + int64(version), Ino: uint64(i*16 + j)},
		})
	}
	return d
}

func saved(b *testing.B) index.File {
	dir := b.TempDir()
	f := index.File{Base: filepath.Join(dir, "index"), Delta: filepath.Join(dir, "index.delta")}
	if err := largeIndex().Save(f); err != nil {
		b.Fatal(err)
	}
	return f
}

func mustLoad(b *testing.B, f index.File) *index.Index {
	x, err := index.Load(f)
	if err != nil {
		b.Fatal(err)
	}
	return x
}

func BenchmarkLoad(b *testing.B) {
	f := saved(b)
	info, err := os.Stat(f.Base)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		if x := mustLoad(b, f); len(x.Dirs) != 5000 {
			b.Fatal(len(x.Dirs))
		}
	}
}

// BenchmarkLoadWithDelta has a quarter of the directories once more in the delta.
func BenchmarkLoadWithDelta(b *testing.B) {
	f := saved(b)
	x := mustLoad(b, f)
	for i := range 1200 {
		x.Put(largeDir(i, 1))
		if i%12 == 0 {
			if err := x.Save(f); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		mustLoad(b, f)
	}
}

// BenchmarkLoadPatched has a delta of 40 saves with 350 changed names each, nearly all
// that a delta to this base may hold.
func BenchmarkLoadPatched(b *testing.B) {
	f := saved(b)
	x := mustLoad(b, f)
	for n := range 40 {
		for i := range 350 {
			d := largeDir(i*14, 0)
			x.Put(with(d, fmt.Sprint(n), fmt.Sprintf("source_file_%02d.c", n%16)))
		}
		if err := x.Save(f); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		mustLoad(b, f)
	}
}

// BenchmarkSaveOne appends one changed directory, and now and then folds.
func BenchmarkSaveOne(b *testing.B) {
	f := saved(b)
	x := mustLoad(b, f)
	n := 0
	for b.Loop() {
		n++
		x.Put(largeDir(n%5000, n))
		if err := x.Save(f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSaveAll(b *testing.B) {
	x := largeIndex()
	dir := b.TempDir()
	b.ReportAllocs()
	for b.Loop() {
		f := index.File{Base: filepath.Join(dir, "index"), Delta: filepath.Join(dir, "index.delta")}
		for _, d := range x.Dirs {
			x.Put(d)
		}
		if err := x.Save(f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	d := &index.Dir{}
	for j := range 10_000 {
		d.Raw = index.Append(d.Raw, &index.Entry{Name: fmt.Sprintf("source_file_%05d.c", j), Mode: object.Regular})
	}
	for name, find := range map[string]string{"present": "source_file_05000.c", "absent": "source_file_05000.h", "far": "zzz"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				d.Find(find)
			}
		})
	}
}

// BenchmarkDifferences is of a block of 300 names in which one has changed.
func BenchmarkDifferences(b *testing.B) {
	old := dir("d", manyNames(300)...)
	d := with(old, "changed", "f00150")
	b.SetBytes(int64(len(d.Raw)))
	for b.Loop() {
		n := 0
		for range index.Differences(old, d) {
			n++
		}
		if n != 1 {
			b.Fatal(n, "differences")
		}
	}
}
