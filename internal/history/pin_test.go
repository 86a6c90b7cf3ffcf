package history_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

func (f *past) pin(spec, name string) {
	f.Helper()
	if err := f.Pin(f.Context(), spec, name); err != nil {
		f.Fatalf("pin %q: %v", name, err)
	}
}

func (f *past) pinNames() []string {
	f.Helper()
	pins, err := f.Pins(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	names := []string{}
	for _, p := range pins {
		names = append(names, p.Name)
	}
	return names
}

// A pinned checkpoint is found by its tree although no line leads to it.
func TestPinKeepsFinding(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	first := f.track("1\n")
	f.pin("@", "kept")
	f.removeLines()
	got, err := f.Lookup(t.Context(), first.Hash[:10])
	if err != nil || got.ID != first.ID {
		t.Errorf("by tree: %v, %v", got, err)
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
	f := newPast(t)
	f.track("1\n")
	for _, name := range pinnable {
		f.pin("@", name)
	}
	want := slices.Sorted(slices.Values(pinnable))
	if diff := cmp.Diff(want, f.pinNames()); diff != "" {
		t.Fatal(diff)
	}
	store := f.DB.Dir()
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
		if err := f.Unpin(t.Context(), name); err != nil {
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
	f := newPast(t)
	f.track("1\n")
	r := f
	for _, name := range []string{
		"", strings.Repeat("a", 201), "\xff", "a\nb", "a\x00", "\x7f", "\u0085", "@", "@~1", "@x", "a..b", "..", "...",
		"abcd", "ABCD", "1234567", strings.Repeat("f", 40),
	} {
		wantError(t, r.Pin(t.Context(), "@", name), history.ErrName)
		wantError(t, r.Unpin(t.Context(), name), history.ErrName)
		if name == "@" {
			continue
		}
		_, err := r.Lookup(t.Context(), name)
		wantError(t, err, state.ErrNotFound)
	}
	if left := f.pinNames(); len(left) > 0 {
		t.Errorf("pinned: %q", left)
	}
}

// Damaged pins, and refs among them that are none, hide no others.
func TestDamagedPins(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	first := f.track("1\n")
	f.pin("@", "good")
	dir := filepath.Join(f.DB.Dir(), "refs", "cairn", "pins")
	for name, content := range map[string]string{
		"torn": "", "Foreign": first.ID + "\n", "%zz": first.ID + "\n", "%61": first.ID + "\n", "lost": strings.Repeat("1", 40) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pins, err := f.Pins(t.Context())
	want := []history.Pin{{Name: "good", Checkpoint: first.ID, Hash: first.Hash}, {Name: "lost", Checkpoint: strings.Repeat("1", 40)}}
	if diff := cmp.Diff(want, pins); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	_, err = f.Lookup(t.Context(), "torn")
	wantError(t, err, state.ErrCorrupt)
	if err := f.Unpin(t.Context(), "torn"); err != nil {
		t.Errorf("a torn pin cannot be taken away: %v", err)
	}
	if c, err := f.Lookup(t.Context(), first.Hash); err != nil || c.ID != first.ID {
		t.Errorf("lookup beside damage: %v, %v", c, err)
	}
}

func FuzzPinName(f *testing.F) {
	for _, name := range pinnable {
		f.Add(name)
	}
	x := newPast(f)
	x.track("1\n")
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

// A name that another store has pushed stands for its checkpoint, unless this store has given it to one. What two other
// stores mean by it is no answer.
func TestFetchedPins(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	one, two, own := f.track("1"), f.track("2"), f.track("3")
	name := "Before it"
	ref := func(store, name string) string { return history.RefRemotes + store + "/pins/" + name }
	f.set(ref(firstStore, "%42efore%20it"), history.IDOf(one))
	f.set(ref(firstStore, "Bad"), history.IDOf(two)) // no name is written so
	lookUp := func(want string) {
		t.Helper()
		if c, err := f.Lookup(t.Context(), name); err != nil || c.ID != want {
			t.Errorf("%s is %v, %v, want %s", name, c, err, want)
		}
	}
	lookUp(one.ID)
	pins, err := f.FetchedPins(t.Context())
	if err != nil || len(pins) != 1 || pins[0].Name != name || pins[0].Checkpoint != one.ID || pins[0].Hash != one.Hash || pins[0].Fetched.Store != firstStore {
		t.Errorf("fetched pins %+v, %v", pins, err)
	}
	f.set(ref(secondStore, "%42efore%20it"), history.IDOf(one))
	lookUp(one.ID)
	f.set(ref(secondStore, "%42efore%20it"), history.IDOf(two))
	_, err = f.Lookup(t.Context(), name)
	wantError(t, err, state.ErrAmbiguous)
	if pins, err = f.FetchedPins(t.Context()); err != nil || len(pins) != 2 || pins[1].Fetched.Store != secondStore {
		t.Errorf("fetched pins %+v, %v", pins, err)
	}
	if err := f.Pin(t.Context(), own.ID, name); err != nil {
		t.Fatal(err)
	}
	lookUp(own.ID)
	if pins, err := f.Pins(t.Context()); err != nil || len(pins) != 1 || pins[0].Fetched != nil {
		t.Errorf("pins %+v, %v", pins, err)
	}
	_, err = f.Lookup(t.Context(), "never")
	wantError(t, err, state.ErrNotFound)
}
