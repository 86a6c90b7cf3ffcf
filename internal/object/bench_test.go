package object_test

import (
	"fmt"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

func BenchmarkParseTree(b *testing.B) {
	data := object.AppendTree(nil, usualTree(1000))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := object.ParseTree(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendTree(b *testing.B) {
	tree := usualTree(1000)
	var data []byte
	for b.Loop() {
		data = object.AppendTree(data[:0], tree)
	}
	b.SetBytes(int64(len(data)))
}

func BenchmarkIsDotGit(b *testing.B) {
	for _, name := range []string{"component_test.go", ".gitignore", "generated.pb.go"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				object.IsDotGit(name)
			}
		})
	}
}

// usualTree has a directory for every seven files.
func usualTree(n int) []object.Entry {
	entries := make([]object.Entry, n)
	for i := range entries {
		mode := object.Regular
		if i%8 == 0 {
			mode = object.Dir
		}
		name := fmt.Sprintf("component_%d.go", i)
		entries[i] = object.Entry{Name: name, Mode: mode, ID: object.Sum(object.Blob, []byte(name))}
	}
	object.SortEntries(entries)
	return entries
}
