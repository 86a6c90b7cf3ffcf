package cairn_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// privateFiles are the files of a store that are no objects.
var privateFiles = []string{
	"HEAD", "config", "packed-refs", "shallow",
	"cairn/version", "cairn/root", "cairn/lock", "cairn/lock.holder", "cairn/lock.wait", "cairn/collect",
	"cairn/index", "cairn/index.delta", "cairn/budget", "cairn/cleaned", "cairn/purged", "cairn/purging", "cairn/replaced",
	"cairn/id", "cairn/redo", "cairn/journal/operation",
	"refs/cairn/operations", "refs/cairn/disk", "refs/cairn/tracks/DAY",
}

// spoilings are what may happen to a file.
var spoilings = map[string]func(t *testing.T, path string){
	"flipped": func(t *testing.T, path string) {
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) || len(data) == 0 {
			t.Skip("a flipped byte needs a file that holds one")
		}
		overwrite(t, path, string(flip(data)))
	},
	"empty": func(t *testing.T, path string) { overwrite(t, path, "") },
	"directory": func(t *testing.T, path string) {
		remove(t, path)
		gittest.Create(t, path, gittest.Tree{"x": gittest.File("x")})
	},
	"FIFO": func(t *testing.T, path string) {
		remove(t, path)
		gittest.Create(t, filepath.Dir(path), gittest.Tree{filepath.Base(path): gittest.FIFO()})
	},
	"dangling": func(t *testing.T, path string) {
		remove(t, path)
		if err := gittest.Symlink(filepath.Join(filepath.Dir(path), "nowhere"), path); err != nil {
			t.Fatal(err)
		}
	},
}

// No damage to a private file makes a command hang, calls the store abandoned or takes a
// checkpoint away, and mending makes the store sound again.
func TestV13_PrivateFiles(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	if runtime.GOOS == "windows" {
		t.Skip("no FIFO here")
	}
	d := newDamaged(t)
	for _, name := range privateFiles {
		for kind, spoil := range spoilings {
			t.Run(strings.ReplaceAll(name, "/", "_")+"_"+kind, func(t *testing.T) {
				t.Parallel()
				if kind == "flipped" && strings.HasPrefix(name, "refs/") {
					t.Skip("a ref to an object that is not there: see the tests of lost objects")
				}
				d.withSpoiled(t, name, spoil)
			})
		}
	}
}

func (d *damaged) withSpoiled(t *testing.T, name string, spoil func(*testing.T, string)) {
	data := filepath.Join(t.TempDir(), "data")
	store := cairn.StorePath(data, mustEval(t, d.root))
	if err := os.CopyFS(store, os.DirFS(d.store)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(store, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return errors.Join(err, os.Chmod(path, 0o600))
	})
	if err != nil {
		t.Fatal(err)
	}
	if name == "refs/cairn/tracks/DAY" {
		days, err := filepath.Glob(filepath.Join(store, "refs/cairn/tracks/*"))
		if err != nil || len(days) == 0 {
			t.Fatal("no line of a day", err)
		}
		name = "refs/cairn/tracks/" + filepath.Base(days[len(days)-1])
	}
	spoil(t, filepath.Join(store, filepath.FromSlash(name)))
	opt := d.opt
	opt.DataDir = data

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sound := func(when string, fix bool) []cairn.Fault {
		r, err := cairn.Open(opt)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		defer r.Close()
		found, err := r.Check(ctx, cairn.CheckOptions{Fix: fix})
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		for _, f := range found {
			if f.Path == "" || fix && !f.Fixed {
				t.Errorf("%s: finding %+v", when, f)
			}
		}
		return found
	}
	stores, err := cairn.Stores(data)
	if err != nil || len(stores) != 1 || stores[0].Missing {
		t.Errorf("the store is listed as %+v, %v", stores, err)
	}
	sound("before", false)
	sound("mending", true)
	if found := sound("after", false); len(found) > 0 {
		t.Errorf("after mending: %+v", found)
	}
	r, err := cairn.Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Track(ctx, cairn.TrackOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := r.Clean(ctx, cairn.CleanOptions{}); err != nil {
		t.Error(err)
	}
	if found := sound("in the end", false); len(found) > 0 {
		t.Errorf("in the end: %+v", found)
	}
}
