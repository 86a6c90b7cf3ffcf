package apply

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// namesIn lists a directory.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestNewDirIsPlacedWhole: nothing is at the path before, and nothing beside it afterwards.
func TestNewDirIsPlacedWhole(t *testing.T) {
	t.Parallel()
	for _, empty := range []bool{false, true} {
		for _, sync := range []bool{false, true} {
			base := t.TempDir()
			path := filepath.Join(base, "copy")
			if empty {
				must(t, os.Mkdir(path, 0o755))
			}
			d, err := MakeAside(path)
			must(t, err)
			testTree{"a/b": aFile("x")}.build(t, d.Tree())
			if left, err := os.ReadDir(path); len(left) > 0 || empty != (err == nil) {
				t.Errorf("too early: %v %v", left, err)
			}
			must(t, d.Place(sync))
			must(t, d.Discard())
			testTree{"a/b": aFile("x")}.check(t, path)
			if got := namesIn(t, base); len(got) != 1 {
				t.Errorf("left behind: %v", got)
			}
		}
	}
}

// TestNewDirTakesTheBitsOfTheEmptyDirectory: what a private directory is filled with stays private.
func TestNewDirTakesTheBitsOfTheEmptyDirectory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("directories have no permission bits")
	}
	for _, bits := range []os.FileMode{0o700, 0o500, 0o750 | os.ModeSetgid, 0o777 | os.ModeSticky} {
		path := filepath.Join(t.TempDir(), "copy")
		must(t, os.Mkdir(path, 0o700))
		must(t, os.Chmod(path, bits))
		d, err := MakeAside(path)
		must(t, err)
		testTree{"a": aFile("x")}.build(t, d.Tree())
		must(t, d.Place(true))
		must(t, d.Discard())
		info, err := os.Lstat(path)
		must(t, err)
		if got := info.Mode() &^ os.ModeDir; got != bits {
			t.Errorf("%v, want %v", got, bits)
		}
		must(t, os.Chmod(path, 0o700))
	}
}

// TestNewDirYieldsToOthers: a file that has come to the path meanwhile stays, and the tree goes.
func TestNewDirYieldsToOthers(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	path := filepath.Join(base, "copy")
	d, err := MakeAside(path)
	must(t, err)
	testTree{"a": aFile("x"), "closed": aFolder().bits(0o555)}.build(t, d.Tree())
	must(t, os.WriteFile(path, []byte("mine"), 0o600))
	if err := d.Place(true); !errors.Is(err, ErrNotNew) {
		t.Errorf("%v", err)
	}
	must(t, d.Discard())
	if data, err := os.ReadFile(path); err != nil || string(data) != "mine" || len(namesIn(t, base)) != 1 {
		t.Errorf("%q %v %v", data, err, namesIn(t, base))
	}
}

// TestNewDirSweeps: what a dead process has left at any of its calls goes with the next attempt. The
// sibling of a live process stays, and so does all that is no sibling.
func TestNewDirSweeps(t *testing.T) {
	t.Parallel()
	base := tempRoot(t)
	path := filepath.Join(base, "copy")
	live, err := MakeAside(path)
	must(t, err)
	testTree{
		".copy.cairn-1":          aFolder(),
		".copy.cairn-2/tree/a/b": aFile("half"), ".copy.cairn-2/tree/closed/x": aFile("x"),
		".copy.cairn-3/claim-1": aFile(""), ".copy.cairn-4/claim-1": aFile(""), ".copy.cairn-4/tree": aFolder(),

		".copy.cairn-5/mine": aFile("no directory of ours"), ".copy.cairn-x/tree": aFolder(), ".copy.cairn-": aFolder(),
		".copy.cairn-6": aFile("a file"), ".copies.cairn-1/tree": aFolder(), "copy.cairn-1": aFolder(), "other/x": aFile("x"),
	}.build(t, base)
	must(t, os.Chmod(filepath.Join(base, ".copy.cairn-2/tree/closed"), 0o555))
	next, err := MakeAside(path)
	must(t, err)
	must(t, next.Discard())
	want := []string{".copies.cairn-1", ".copy.cairn-", filepath.Base(live.aside), ".copy.cairn-5", ".copy.cairn-6", ".copy.cairn-x", "copy.cairn-1", "other"}
	got := map[string]bool{}
	for _, name := range namesIn(t, base) {
		got[name] = true
	}
	wanted := map[string]bool{}
	for _, name := range want {
		wanted[name] = true
	}
	if d := cmp.Diff(wanted, got); d != "" {
		t.Error(d)
	}
	must(t, live.Discard())
}

func TestAsideNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".a.cairn-1": true, ".a.cairn-b.cairn-12": true, filepath.Base(AsideName("x/y")): true,
		"a.cairn-1": false, ".cairn-1": false, ".a.cairn-": false, ".a.cairn-1x": false, ".a": false, "": false,
	} {
		if IsAside(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}
