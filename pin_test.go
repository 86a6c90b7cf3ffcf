package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func (f *fixture) pin(spec, name string) {
	f.Helper()
	if err := f.repo().Pin(f.Context(), spec, name); err != nil {
		f.Fatalf("pin %q: %v", name, err)
	}
}

func (f *fixture) pinNames() []string {
	f.Helper()
	pins, err := f.repo().Pins(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	names := []string{}
	for _, p := range pins {
		names = append(names, p.Name)
	}
	return names
}

func TestPin(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	first := f.track()
	f.write("a", "2\n")
	second := f.track()
	f.pin(first.Hash, "before the migration")
	f.pin("@~1", "before the migration") // the same checkpoint
	f.pin("before the migration", "b")   // a name is as good as a hash
	r := f.repo()

	err := r.Pin(t.Context(), "@", "b")
	assertError(t, err, cairn.ErrExists)
	if err == nil || !strings.Contains(err.Error(), first.Checkpoint) {
		t.Errorf("%v does not say which checkpoint has the name", err)
	}
	pins, err := r.Pins(t.Context())
	want := []cairn.Pin{{Name: "b", Checkpoint: first.Checkpoint, Hash: first.Hash}, {Name: "before the migration", Checkpoint: first.Checkpoint, Hash: first.Hash}}
	if diff := cmp.Diff(want, pins); err != nil || diff != "" {
		t.Errorf("pins: %v %s", err, diff)
	}

	if changes, err := r.Changes(t.Context(), "b", "@"); err != nil || len(changes) != 1 {
		t.Errorf("changes from a name: %v, %v", changes, err)
	}
	f.restoreAll("before the migration")
	if f.read("a") != "1\n" {
		t.Errorf("restored by name: %q", f.read("a"))
	}

	if err := r.Unpin(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	_, err = r.Lookup(t.Context(), "b")
	assertError(t, err, cairn.ErrNotFound)
	assertError(t, r.Unpin(t.Context(), "b"), cairn.ErrNotFound)
	f.pin(second.Hash, "b")
	if got, err := r.Lookup(t.Context(), "b"); err != nil || got.Hash != second.Hash {
		t.Errorf("the name given anew: %v, %v", got, err)
	}
	assertError(t, r.Pin(t.Context(), "no such", "c"), cairn.ErrNotFound)
}

// A pinned checkpoint is found by its tree although no line leads to it.
func TestPinKeepsFinding(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	first := f.track()
	f.pin("@", "kept")
	removeLines(t, f.repo().StoreDir())
	got, err := f.repo().Lookup(t.Context(), first.Hash[:10])
	if err != nil || got.ID != first.Checkpoint {
		t.Errorf("by tree: %v, %v", got, err)
	}
}

func removeLines(t *testing.T, store string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(store, "refs", "cairn", "tracks")); err != nil {
		t.Fatal(err)
	}
}

// pinnable are names that some system, or git, would not take as they are.
var pinnable = []string{
	"a", "A", "v1.0", "before the migration", "läuft", "la\u0308uft", "日本語", "x/y", "x", "x/", "/", "\\", "a:b", "-rf", "--", "*?[~^",
	".", ".hidden", "dot.", "a.lock", "A.LOCK", ".lock", "x.lock.y", "HEAD", "refs/heads/main", "%41", "%", "%2", "+", "+/+", "a+", "{", "a@{1}", "b@",
	"con", "CON", "nul.txt", "com1", "abc", "ABC", "deadbeef deadbeef", "g123", strings.Repeat("a", 41), strings.Repeat("f", 200), strings.Repeat("é", 100),
	strings.Repeat("x", 179), strings.Repeat("x", 180), strings.Repeat("x", 181), strings.Repeat("x", 180) + ".lock", strings.Repeat("x", 180) + ".",
	strings.Repeat("x", 179) + ".y", "\u202e", " ", " a", "a ", "🪨", "'\"$(id)`",
}

func TestNamesAreKeptApart(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.track()
	for _, name := range pinnable {
		f.pin("@", name)
	}
	want := slices.Sorted(slices.Values(pinnable))
	if diff := cmp.Diff(want, f.pinNames()); diff != "" {
		t.Fatal(diff)
	}
	store := f.repo().StoreDir()
	refs := strings.Fields(o.In(store, "for-each-ref", "--format=%(refname)", "refs/cairn/pins"))
	if len(refs) != len(pinnable) {
		t.Errorf("git sees %d refs, want %d: %q", len(refs), len(pinnable), refs)
	}
	folded := make(map[string]string)
	for _, ref := range refs {
		o.In(store, "check-ref-format", ref)
		if other, ok := folded[strings.ToLower(ref)]; ok {
			t.Errorf("%s and %s are one file where case does not count", ref, other)
		}
		folded[strings.ToLower(ref)] = ref
		for part := range strings.SplitSeq(ref, "/") {
			if len(part) > 200 || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789-_.%+") != "" {
				t.Errorf("%q is not for every file system", part)
			}
		}
	}
	o.In(store, "pack-refs", "--all") // names and directories must not conflict there, either
	if diff := cmp.Diff(want, f.pinNames()); diff != "" {
		t.Error(diff)
	}
	for _, name := range pinnable {
		if err := f.repo().Unpin(t.Context(), name); err != nil {
			t.Errorf("unpin %q: %v", name, err)
		}
	}
	if left := f.pinNames(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	o.In(store, "fsck", "--strict")
}

func TestUnusableNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.track()
	r := f.repo()
	for _, name := range []string{
		"", strings.Repeat("a", 201), "\xff", "a\nb", "a\x00", "\x7f", "\u0085", "@", "@~1", "@x", "a..b", "..", "...",
		"abcd", "ABCD", "1234567", strings.Repeat("f", 40),
	} {
		assertError(t, r.Pin(t.Context(), "@", name), cairn.ErrName)
		assertError(t, r.Unpin(t.Context(), name), cairn.ErrName)
		if name == "@" {
			continue
		}
		_, err := r.Lookup(t.Context(), name)
		assertError(t, err, cairn.ErrNotFound)
	}
	if left := f.pinNames(); len(left) > 0 {
		t.Errorf("pinned: %q", left)
	}
}

// Damaged pins, and refs among them that are none, hide no others.
func TestDamagedPins(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	first := f.track()
	f.pin("@", "good")
	dir := filepath.Join(f.repo().StoreDir(), "refs", "cairn", "pins")
	for name, content := range map[string]string{
		"torn": "", "Foreign": first.Checkpoint + "\n", "%zz": first.Checkpoint + "\n", "%61": first.Checkpoint + "\n", "lost": strings.Repeat("1", 40) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pins, err := f.repo().Pins(t.Context())
	want := []cairn.Pin{{Name: "good", Checkpoint: first.Checkpoint, Hash: first.Hash}, {Name: "lost", Checkpoint: strings.Repeat("1", 40)}}
	if diff := cmp.Diff(want, pins); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	_, err = f.repo().Lookup(t.Context(), "torn")
	assertError(t, err, cairn.ErrCorrupt)
	if err := f.repo().Unpin(t.Context(), "torn"); err != nil {
		t.Errorf("a torn pin cannot be taken away: %v", err)
	}
	if c, err := f.repo().Lookup(t.Context(), first.Hash); err != nil || c.ID != first.Checkpoint {
		t.Errorf("lookup beside damage: %v, %v", c, err)
	}
}

func FuzzPinName(f *testing.F) {
	for _, name := range pinnable {
		f.Add(name)
	}
	x := newFuzzStore(f, gittest.Tree{"a": gittest.File("1\n")})
	f.Fuzz(func(t *testing.T, name string) {
		if err := x.Pin(t.Context(), "@", name); err != nil {
			return
		}
		defer x.Unpin(t.Context(), name)
		pins, err := x.Pins(t.Context())
		if err != nil || len(pins) != 1 || pins[0].Name != name {
			t.Errorf("%q became %v, %v", name, pins, err)
		}
	})
}

// newFuzzStore opens a store with one checkpoint of tree.
func newFuzzStore(f *testing.F, tree gittest.Tree) *cairn.Repo {
	root := filepath.Join(f.TempDir(), "root")
	gittest.Create(f, root, tree)
	r, err := cairn.Open(cairn.Options{Root: root, DataDir: f.TempDir(), NoSync: true})
	if err == nil {
		_, err = r.Track(background, cairn.TrackOptions{})
	}
	if err != nil {
		f.Fatal(fmt.Errorf("fuzz store: %w", err))
	}
	f.Cleanup(func() { r.Close() })
	return r
}
