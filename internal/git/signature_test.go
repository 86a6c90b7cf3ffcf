package git

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

func TestIndexSignature(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := o.Init(tempDir(t))
	write(t, filepath.Join(dir, "f"), "y")
	o.In(dir, "add", "f") // and no commit, which would add an extension
	path := filepath.Join(dir, ".git", "index")
	sign := func() Signature {
		t.Helper()
		s, err := IndexSignature(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := sign()
	if first.Size == 0 || first.MTime == 0 || first.Trailer == ([20]byte{}) || runtime.GOOS == "linux" && (first.CTime == 0 || first.Ino == 0) {
		t.Errorf("signature %+v lacks something", first)
	}
	if sign() != first {
		t.Error("the same file has two signatures")
	}
	// Same size, same mtime, same inode: the checksum still tells.
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	o.In(dir, "update-index", "--cacheinfo", "100644,"+object.Sum(object.Blob, []byte("x")).String()+",f")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	second := sign()
	second.CTime, second.Ino = first.CTime, first.Ino
	if second == first {
		t.Error("another index has the same signature")
	}
	if second.Trailer = first.Trailer; second != first {
		t.Errorf("the test has changed more than the contents: %+v, %+v", first, second)
	}
	if _, err := IndexSignature(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	write(t, path+"short", "x")
	if s, err := IndexSignature(path + "short"); err != nil || s.Size != 1 {
		t.Errorf("short file: %+v, %v", s, err)
	}
}

func BenchmarkIndexSignature(b *testing.B) {
	path := filepath.Join(b.TempDir(), "index")
	if err := os.WriteFile(path, indexBytes(syntheticIndex(1000), true), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := IndexSignature(path); err != nil {
			b.Fatal(err)
		}
	}
}
