package odb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

func TestR59SweepAfterAKill(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	id := commit(t, db, "kept")[0]
	temps := func() (n int) {
		t.Helper()
		names, err := readNames(db.path(packDir))
		must(t, err)
		for _, name := range names {
			if strings.HasPrefix(name, pack.TempPrefix) {
				n++
			}
		}
		return n
	}
	for range 3 {
		c := startChild(t, "spill", db.Dir())
		if temps() != 1 {
			t.Fatalf("%d temporary files of a living writer", temps())
		}
		must(t, db.Sweep())
		if temps() != 1 {
			t.Fatal("the living was swept")
		}
		c.kill()
		if temps() != 1 {
			t.Fatalf("%d temporary files of a dead writer", temps())
		}
		must(t, db.Sweep())
		if temps() != 0 {
			t.Fatal("the dead was not swept")
		}
	}
	wantBlob(t, reopen(t, db), id, "kept")
	fsck(t, db)
}

func TestSweep(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	id := commit(t, db, "kept")[0]
	alone := newStore(t)
	commit(t, alone, "half")
	half := alone.PackNames()[0]
	keep := []string{
		"precious", "cairn/index", "cairn/journal/j", "objects/pack/tmp_pack_of_git", "objects/pack/pack-x.pack", "objects/pack/pack-x.pack.rej",
		"objects/pack/pack-1234.idx", "objects/pack/" + half + ".keep", "refs/cairn/.tmp_cairn_1",
	}
	drop := []string{
		".tmp_cairn_1", "cairn/trees", "cairn/.tmp_cairn_2", "cairn/journal/.tmp_cairn_3", "objects/pack/tmp_cairn_4",
	}
	for _, name := range append(slices.Clone(keep), drop...) {
		must(t, os.WriteFile(db.path(filepath.FromSlash(name)), []byte("x"), 0o600))
	}
	check := func(names []string, want bool) {
		t.Helper()
		for _, name := range names {
			_, err := os.Lstat(db.path(filepath.FromSlash(name)))
			if there := err == nil; there != want {
				t.Errorf("%s: there: %v, %v", name, there, err)
			}
		}
	}
	must(t, db.Sweep())
	check(keep, true)
	check(drop, false)

	// Either half of a pack of cairn's goes, unless it is marked as kept.
	for _, ext := range []string{pack.Ext, pack.IndexExt} {
		data, err := os.ReadFile(alone.path(packDir, half+ext))
		must(t, err)
		path := db.path(packDir, half+ext)
		must(t, os.WriteFile(path, data, 0o600))
		must(t, db.Sweep())
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("kept half %s: %v", ext, err)
		}
		must(t, os.Remove(db.path(packDir, half+".keep")))
		must(t, db.Sweep())
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("half %s: %v", ext, err)
		}
		must(t, os.WriteFile(db.path(packDir, half+".keep"), nil, 0o600))
	}
	wantBlob(t, reopen(t, db), id, "kept")
	must(t, os.RemoveAll(db.path(packDir)))
	must(t, os.RemoveAll(db.path(journalDir)))
	must(t, db.Sweep())
}

// Earlier releases wrote a regular file cairn/trees. What else has the name stays.
func TestSweepOfTheTreesFile(t *testing.T) {
	t.Parallel()
	for kind, put := range map[string]func(path string) error{
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":      func(path string) error { return os.Symlink("version", path) },
	} {
		db := newStore(t)
		path := db.PrivatePath("trees")
		if err := put(path); err != nil {
			t.Skip("links cannot be made here:", err)
		}
		must(t, db.Sweep())
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestR91UnfinishedStoresAreSwept(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	must(t, os.WriteFile(filepath.Join(parent, "file"), nil, 0o600))
	for _, aside := range []string{".tmp_cairn_1" + AsideSuffix, ".tmp_cairn_2" + AsideSuffix} {
		must(t, os.MkdirAll(filepath.Join(parent, aside, "objects", "pack"), 0o700))
	}
	must(t, os.WriteFile(filepath.Join(parent, ".tmp_cairn_2"), nil, 0o600)) // the claim of one
	must(t, os.WriteFile(filepath.Join(parent, ".tmp_cairn_3"), nil, 0o600)) // a claim without a store
	must(t, os.Mkdir(filepath.Join(parent, "other.store"), 0o700))
	db, err := Create(filepath.Join(parent, "store"), testRoot, Options{NoSync: true})
	must(t, err)
	defer db.Close()
	names, err := readNames(parent)
	must(t, err)
	slices.Sort(names)
	if want := []string{"file", "other.store", "store"}; !slices.Equal(names, want) {
		t.Errorf("left %q, want %q", names, want)
	}
}

// TestSizeWithoutWhatIsGone: a pack that was removed while a process has it open stays on Windows
// for a while. The budget must not drop checkpoints to make up for it.
func TestSizeWithoutWhatIsGone(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	before, err := db.Size()
	must(t, err)
	must(t, os.WriteFile(db.path(packDir, GonePrefix+"x.pack"), make([]byte, 1000), 0o600))
	if size, err := db.Size(); err != nil || size != before {
		t.Errorf("%d bytes, %v; %d before", size, err, before)
	}
}
