package index_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

func files(t *testing.T) index.File {
	dir := t.TempDir()
	return index.File{Base: filepath.Join(dir, "index"), Delta: filepath.Join(dir, "index.delta")}
}

func save(t *testing.T, x *index.Index, f index.File) {
	t.Helper()
	if err := x.Save(f); err != nil {
		t.Fatal(err)
	}
	if x.Dirty() {
		t.Fatal("dirty after Save")
	}
}

func load(t *testing.T, f index.File) *index.Index {
	t.Helper()
	x, err := index.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	if x.Dirty() {
		t.Fatal("dirty after Load")
	}
	return x
}

// wantState fails unless f holds that state.
func wantState(t *testing.T, f index.File, want state) {
	t.Helper()
	if diff := want.diff(stateOf(load(t, f))); diff != "" {
		t.Fatalf("loaded:\n%s", diff)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func stat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestLoadNothing(t *testing.T) {
	t.Parallel()
	f := files(t)
	wantState(t, f, stateOf(index.New()))
	write(t, f.Delta, []byte("left over"))
	wantState(t, f, stateOf(index.New()))
}

func TestSaveNothing(t *testing.T) {
	t.Parallel()
	f := files(t)
	save(t, index.New(), f)
	if exists(f.Base) || exists(f.Delta) {
		t.Error("an empty index was written")
	}
	x := sample()
	save(t, x, f)
	base := read(t, f.Base)
	save(t, x, f)
	save(t, load(t, f), f)
	if !bytes.Equal(base, read(t, f.Base)) || exists(f.Delta) {
		t.Error("an unchanged index was written")
	}
}

// TestSaveAndLoad goes through a base and deltas with a fresh Load before each
// step, and with the same index all along.
func TestSaveAndLoad(t *testing.T) {
	t.Parallel()
	steps := []struct {
		name string
		edit func(*index.Index)
	}{
		{"change", func(x *index.Index) { x.Put(dir("a", "b/", "changed")) }},
		{"add", func(x *index.Index) { x.Put(dir("new", "n")); x.Put(dir("", "a/", "new/", "z/")) }},
		{"remove", func(x *index.Index) { x.Remove("a") }},
		{"remove and add", func(x *index.Index) { x.Remove("c"); x.Put(dir("c", "again")) }},
		{"add and remove", func(x *index.Index) { x.Put(dir("short", "lived")); x.Remove("short") }},
		{"remove, add, remove", func(x *index.Index) { x.Remove("c"); x.Put(dir("c", "x")); x.Remove("c") }},
		{"twice", func(x *index.Index) { x.Put(dir("z", "first")); x.Put(dir("z", "second")) }},
		{"same", func(x *index.Index) { x.Put(x.Dirs["z"]); x.Put(x.Dirs["z"]) }},
		{"packs", func(x *index.Index) { x.SetPrivate([]string{"p1", "p2"}, x.Aux) }},
		{"aux", func(x *index.Index) { x.SetPrivate(x.Packs, []byte("\x00aux\xff")) }},
		{"kept", func(x *index.Index) { x.Put(dir("a", "back")) }},
		{"no packs", func(x *index.Index) { x.SetPrivate(nil, x.Aux) }},
		{"all gone", func(x *index.Index) {
			for path := range x.Dirs {
				x.Remove(path)
			}
		}},
		{"root again", func(x *index.Index) { x.Put(dir("", "a")) }},
	}
	for _, reload := range []bool{false, true} {
		f := files(t)
		x := sample()
		x.SetPrivate([]string{"p"}, []byte("first"))
		save(t, x, f)
		base := read(t, f.Base)
		wantState(t, f, stateOf(x))
		for _, step := range steps {
			if reload {
				x = load(t, f)
			}
			step.edit(x)
			want := stateOf(x)
			save(t, x, f)
			if diff := want.diff(stateOf(load(t, f))); diff != "" {
				t.Errorf("%s (reload %v):\n%s", step.name, reload, diff)
			}
		}
		if !bytes.Equal(base, read(t, f.Base)) {
			t.Error("a small change rewrote the base")
		}
	}
}

func TestAnyBytes(t *testing.T) {
	t.Parallel()
	f := files(t)
	rng := rand.New(rand.NewPCG(3, 3))
	x := index.New()
	for range 100 {
		x.Put(&index.Dir{Path: randomName(rng), Raw: block(sortedEntries(rng, rng.IntN(20))...)})
	}
	long := strings.Repeat("long/", 100_000)
	x.Put(&index.Dir{Path: long, Raw: block(index.Entry{Name: strings.Repeat("n", 65535)})})
	x.SetPrivate([]string{"", "\x00", long}, []byte(long+"\x00\xff"))
	save(t, x, f)
	wantState(t, f, stateOf(x))
	x = load(t, f)
	x.Remove(long)
	x.Put(&index.Dir{Path: "\x00", Raw: block(sortedEntries(rng, 20)...)})
	save(t, x, f)
	wantState(t, f, stateOf(x))
}

func TestLarge(t *testing.T) {
	t.Parallel()
	f := files(t)
	x := largeIndex()
	save(t, x, f)
	wantState(t, f, stateOf(x))
}

// TestTooLarge: a file that cannot be an index is not read into memory.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"base", "delta"} {
		f := files(t)
		save(t, sample(), f)
		path := map[string]string{"base": f.Base, "delta": f.Delta}[name]
		write(t, path, nil)
		if err := os.Truncate(path, 1<<40); err != nil {
			t.Skipf("no file with a hole of a terabyte: %v", err)
		}
		if x, err := index.Load(f); !errors.Is(err, index.ErrMalformed) || x == nil || len(x.Dirs) > 0 {
			t.Errorf("%s: %v, want ErrMalformed and an empty index", name, err)
		}
	}
}

// TestFold appends until the delta has outgrown its share, and checks that it is
// folded then and not before.
func TestFold(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		dirs  int
		limit int64
	}{
		"small base": {10, 256 << 10},
		"large base": {1600, 0}, // a quarter
	} {
		f := files(t)
		x := index.New()
		for i := range tc.dirs {
			x.Put(largeDir(i, 0))
		}
		save(t, x, f)
		base := stat(t, f.Base)
		limit := max(tc.limit, base.Size()/4)
		if tc.limit == 0 && limit <= 256<<10 {
			t.Fatalf("%s: of %d bytes is not large", name, base.Size())
		}
		folds, before, record := 0, int64(0), int64(0)
		for version := range 600 {
			x.Put(largeDir(version%tc.dirs, version+1))
			save(t, x, f)
			after := int64(0)
			if exists(f.Delta) {
				after = stat(t, f.Delta).Size()
			}
			if now := stat(t, f.Base); !os.SameFile(base, now) {
				base = now
				folds++
				if after != 0 || before+record <= limit {
					t.Fatalf("%s: folded a delta of %d bytes before %d, left %d", name, before, limit, after)
				}
				wantState(t, f, stateOf(x))
			} else if record = after - before; after > limit+100 {
				t.Fatalf("%s: a delta of %d bytes, limit %d", name, after, limit)
			}
			before = after
		}
		if folds == 0 {
			t.Errorf("%s: never folded", name)
		}
		wantState(t, f, stateOf(x))
	}
}

// TestLargeChange: a save that is larger than what a delta may hold rewrites the
// base at once.
func TestLargeChange(t *testing.T) {
	t.Parallel()
	f := files(t)
	x := sample()
	save(t, x, f)
	for i := range 300 {
		x.Put(largeDir(i, 0))
	}
	save(t, x, f)
	if exists(f.Delta) {
		t.Error("there is a delta")
	}
	wantState(t, f, stateOf(x))
}

// TestBaseIsReproducible: the same state gives the same file, but for its id.
func TestBaseIsReproducible(t *testing.T) {
	t.Parallel()
	f, g := files(t), files(t)
	save(t, sample(), f)
	save(t, sample(), g)
	a, b := read(t, f.Base), read(t, g.Base)
	if bytes.Equal(a[:16], b[:16]) {
		t.Error("two bases of one id")
	}
	if !bytes.Equal(a[16:len(a)-4], b[16:len(b)-4]) {
		t.Error("the order of blocks differs")
	}
}

func TestStaleDelta(t *testing.T) {
	t.Parallel()
	f := files(t)
	old := sample()
	save(t, old, f)
	old.Remove("a")
	save(t, old, f)
	stale := read(t, f.Delta)

	if err := os.Remove(f.Base); err != nil {
		t.Fatal(err)
	}
	x := sample()
	save(t, x, f)
	if exists(f.Delta) {
		t.Error("a new base leaves the old delta")
	}
	write(t, f.Delta, stale)
	want := stateOf(x)
	wantState(t, f, want)

	x = load(t, f)
	x.Put(dir("c", "j"))
	save(t, x, f)
	wantState(t, f, stateOf(x))
}

// TestForeignDelta: an index that was loaded before others wrote a new base must
// not make its record count for theirs.
func TestForeignDelta(t *testing.T) {
	t.Parallel()
	f := files(t)
	x := sample()
	save(t, x, f)
	x.Put(dir("c", "1"))
	save(t, x, f) // both deltas begin with the same record
	mine := load(t, f)

	if err := os.Remove(f.Base); err != nil {
		t.Fatal(err)
	}
	theirs := sample()
	save(t, theirs, f)
	theirs.Put(dir("c", "1"))
	save(t, theirs, f)

	mine.Remove("a")
	save(t, mine, f)
	wantState(t, f, stateOf(theirs))
	theirs = load(t, f)
	theirs.Remove("z")
	save(t, theirs, f)
	wantState(t, f, stateOf(theirs))
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"base", "delta"} {
		f := files(t)
		x := sample()
		save(t, x, f)
		path := map[string]string{"base": f.Base, "delta": f.Delta}[name]
		os.Remove(path)
		if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil { // cannot be read as a file
			t.Fatal(err)
		}
		got, err := index.Load(f)
		if err == nil || errors.Is(err, index.ErrMalformed) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want the system's error with the path", name, err)
		}
		if got == nil || len(got.Dirs) > 0 {
			t.Errorf("%s: %v, want an empty index", name, got)
		}
		if name == "delta" { // must not keep the cache from being rewritten
			got.Put(dir("", "a"))
			save(t, got, f)
		}
	}
}

// TestFailedSave: an index that could not be saved still knows what to save.
func TestFailedSave(t *testing.T) {
	t.Parallel()
	f := files(t)
	x := sample()
	save(t, x, f)
	for i, name := range []string{"append", "rewrite"} {
		path := f.Delta
		if name == "rewrite" {
			path = filepath.Dir(f.Base)
			for j := range 300 {
				x.Put(largeDir(j, i))
			}
		}
		x.Remove("a")
		x.Put(dir("c", name))
		want := stateOf(x)
		aside := path + ".aside"
		if name == "rewrite" {
			if err := os.Rename(path, aside); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := x.Save(f); err == nil || !x.Dirty() {
			t.Errorf("%s: %v, dirty %v; want an error and something left to save", name, err, x.Dirty())
		}
		if name == "rewrite" {
			if err := os.Rename(aside, path); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		save(t, x, f)
		wantState(t, f, want)
	}
}

// TestRandomHistories compares with a map after every save.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(gittest.Rounds(20)) {
		rng := rand.New(rand.NewPCG(seed, 4))
		f := files(t)
		x := index.New()
		model := make(map[string]string)
		for step := range 40 {
			if rng.IntN(2) == 0 {
				x = load(t, f)
			}
			for range rng.IntN(6) {
				edit(rng, x, model)
			}
			packs, aux := x.Packs, x.Aux
			if rng.IntN(4) == 0 {
				packs, aux = []string{fmt.Sprint(step)}, fmt.Append(nil, seed, step)
			}
			x.SetPrivate(packs, aux)
			save(t, x, f)
			got := load(t, f)
			if string(got.Aux) != string(aux) || !slices.Equal(got.Packs, packs) {
				t.Fatalf("seed %d, step %d: %q, %q", seed, step, got.Packs, got.Aux)
			}
			blocks := make(map[string]string)
			for path, d := range got.Dirs {
				blocks[path] = string(d.Raw)
			}
			if !maps.Equal(model, blocks) {
				t.Fatalf("seed %d, step %d: blocks differ", seed, step)
			}
		}
	}
}

// edit puts or removes a flat directory, sometimes a large one.
func edit(rng *rand.Rand, x *index.Index, model map[string]string) {
	path := fmt.Sprint(rng.IntN(10))
	if rng.IntN(3) == 0 {
		x.Remove(path)
		delete(model, path)
		return
	}
	n := rng.IntN(20)
	if rng.IntN(20) == 0 {
		n = 2000
	}
	entries := sortedEntries(rng, n)
	for i := range entries {
		if entries[i].Mode == object.Dir {
			entries[i].Mode = object.Regular
		}
	}
	d := &index.Dir{Path: path, Raw: block(entries...)}
	x.Put(d)
	model[path] = string(d.Raw)
}

// TestAppend: a delta that Append writes may grow longer, and Long says when it is time to
// Fold, but it does not outgrow the base.
func TestAppend(t *testing.T) {
	t.Parallel()
	f := files(t)
	x := index.New()
	for i := range 1600 {
		x.Put(largeDir(i, 0))
	}
	if save(t, x, f); x.Long() {
		t.Error("too long without a delta")
	}
	base := stat(t, f.Base)
	long, longest := int64(0), int64(0)
	for version := range 2500 {
		x.Put(largeDir(version%1600, version+1))
		if err := x.Append(f); err != nil {
			t.Fatal(err)
		}
		if !os.SameFile(base, stat(t, f.Base)) {
			break
		}
		if longest = stat(t, f.Delta).Size(); x.Long() && long == 0 {
			long = longest
			folded := *x
			g := index.File{Base: f.Base + ".folded", Delta: f.Delta + ".folded"}
			if err := folded.Fold(g); err != nil || folded.Long() {
				t.Error("not folded: ", err)
			}
			wantState(t, g, stateOf(x))
		}
	}
	if quarter := base.Size() / 4; long < quarter || long > quarter+4096 {
		t.Errorf("too long at %d bytes of a base of %d", long, base.Size())
	}
	if longest > base.Size() || longest < base.Size()-4096 || exists(f.Delta) {
		t.Errorf("written anew at %d bytes of a base of %d", longest, base.Size())
	}
	wantState(t, f, stateOf(x))
}
