package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// manyCheckpoints makes a store of n checkpoints of 40 files, each of which changes one of 20 files.
func manyCheckpoints(b *testing.B, n int) (open func() *cairn.Repo) {
	tree := gittest.Tree{}
	for i := range 20 {
		tree[fmt.Sprintf("file%d.go", i)] = gittest.File("x")
		tree[fmt.Sprintf("pkg/sub%d/file.go", i)] = gittest.File("x")
	}
	root, data := b.TempDir(), b.TempDir()
	gittest.Create(b, root, tree)
	open = func() *cairn.Repo { return opened(b, root, data, false) }
	r := open()
	defer r.Close()
	for i := range n {
		file := filepath.Join(root, fmt.Sprintf("pkg/sub%d/file.go", i%20))
		if err := os.WriteFile(file, fmt.Append(nil, "content ", i), 0o644); err != nil {
			b.Fatal(err)
		}
		if _, err := r.Track(background, cairn.TrackOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	return open
}

// BenchmarkPathLog lists the checkpoints that changed one file among 10,000. The goal is 100 ms.
func BenchmarkPathLog(b *testing.B) {
	open := manyCheckpoints(b, 10_000)
	for b.Loop() {
		r := open()
		n := 0
		for _, err := range r.Log(background, cairn.LogOptions{Paths: []string{"pkg/sub3/file.go"}}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 501 {
			b.Fatalf("%d checkpoints changed the file", n)
		}
		r.Close()
	}
}

// BenchmarkBlame blames a file of 5,000 lines that 500 checkpoints changed. The goal is 200 ms.
func BenchmarkBlame(b *testing.B) {
	root, data := b.TempDir(), b.TempDir()
	lines := make([]string, 5000)
	for i := range lines {
		lines[i] = fmt.Sprintf("\tresult = append(result, value%d)\n", i)
	}
	open := func() *cairn.Repo { return opened(b, root, data, false) }
	r := open()
	for i := range 501 {
		lines[i*7919%5000] = fmt.Sprintf("\tchanged by %d\n", i)
		lines[i*104729%5000] = fmt.Sprintf("\tchanged by %d, too\n", i)
		if err := os.WriteFile(filepath.Join(root, "f"), []byte(strings.Join(lines, "")), 0o644); err != nil {
			b.Fatal(err)
		}
		if _, err := r.Track(background, cairn.TrackOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	r.Close()
	for b.Loop() {
		r := open()
		if _, err := r.Blame(background, "f", cairn.BlameOptions{}); err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}
