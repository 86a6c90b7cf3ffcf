package gittest

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
)

// Originals are directories that many tests begin with: each is made once and copied from then on. A
// copy of a repository is far cheaper than the processes of git that make one. They are kept in
// memory, so that no test removes them. The zero value is ready for use.
type Originals struct {
	mu  sync.Mutex
	all map[string]*original
}

type original struct {
	once  sync.Once
	files fstest.MapFS // nil if the test that made it has failed
}

// Copy fills dir, which may be there, with a copy of the original of a name. Make makes the original in
// a directory if there is none yet. The index of a copied repository has other times than the files:
// git update-index --refresh mends that.
func (o *Originals) Copy(t testing.TB, dir, name string, make func(dir string)) {
	t.Helper()
	of := o.named(name)
	of.once.Do(func() {
		made := filepath.Join(t.TempDir(), "original")
		make(made)
		of.files = inMemory(t, made)
	})
	if of.files == nil {
		t.Fatalf("the test that made %q has failed", name)
	}
	if err := os.CopyFS(dir, of.files); err != nil {
		t.Fatal(err)
	}
}

func (o *Originals) named(name string) *original {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = make(map[string]*original)
	}
	if o.all[name] == nil {
		o.all[name] = new(original)
	}
	return o.all[name]
}

// inMemory reads directories and files. It knows no links.
func inMemory(t testing.TB, dir string) fstest.MapFS {
	t.Helper()
	files := make(fstest.MapFS)
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files[path] = &fstest.MapFile{Mode: info.Mode()}
		if !d.IsDir() {
			files[path].Data, err = os.ReadFile(filepath.Join(dir, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
