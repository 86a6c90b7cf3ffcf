package history_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

func TestLookup(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	_, err := f.Lookup(t.Context(), "@")
	wantError(t, err, state.ErrNotFound)
	one := statetest.Track(t, f.Store, statetest.NewState(t, f.Store, map[string]string{"d/f": "1"}))
	two := statetest.Track(t, f.Store, statetest.NewState(t, f.Store, map[string]string{"d/f": "2"}))
	for spec, want := range map[string]string{
		"@": two.ID, "@~0": two.ID, "@~1": one.ID,
		one.Hash: one.ID, two.Hash[:12]: two.ID, one.ID[:12]: one.ID, strings.ToUpper(two.Hash): two.ID,
	} {
		c, err := f.Lookup(t.Context(), spec)
		if err != nil || c.ID != want {
			t.Errorf("%s: %v, %v, want %s", spec, c, err, want)
		}
	}
	var blob string
	for e, err := range f.List(t.Context(), "@", "") {
		if err != nil {
			t.Fatal(err)
		}
		blob = e.ID
	}
	for _, spec := range []string{"", "@~2", "@~-1", "@x", "abc", "HEAD", strings.Repeat("0", 40), blob, strings.Repeat("a", 41), "../x", "@~99999999999999999999"} {
		_, err := f.Lookup(t.Context(), spec)
		wantError(t, err, state.ErrNotFound)
	}
	// The tree of a sub-directory is no checkpoint: restoring it would delete the rest.
	o := gittest.NewOracle(t)
	sub := strings.Fields(o.In(f.DB.Dir(), "ls-tree", two.Hash))[2]
	_, err = f.Lookup(t.Context(), sub)
	wantError(t, err, state.ErrNotFound)
}

// A tree stands for the newest checkpoint with it, a prefix of several checkpoints for none.
func TestLookupOfSeveral(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	first, _, again := f.track("same"), f.track("other"), f.track("same")
	if c, err := f.Lookup(t.Context(), first.Hash); err != nil || c.ID != again.ID {
		t.Errorf("the tree is %v, %v, want %s", c, err, again.ID)
	}
	prefixes := make(map[string]string)
	for i := 0; ; i++ { // until two ids begin alike
		c := f.track(fmt.Sprint(i))
		if other, met := prefixes[c.ID[:history.MinPrefix]]; met {
			_, err := f.Lookup(t.Context(), c.ID[:history.MinPrefix])
			wantError(t, err, state.ErrAmbiguous)
			for _, id := range []string{other, c.ID} {
				if got, err := f.Lookup(t.Context(), id); err != nil || got.ID != id {
					t.Errorf("the whole id %s is %v, %v", id, got, err)
				}
			}
			return
		}
		prefixes[c.ID[:history.MinPrefix]] = c.ID
	}
}

// Many look-ups at once on one Store do not disturb one another.
func TestLookupOfTreesAtOnce(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	first := f.track("first")
	for i := range 20 {
		f.track(fmt.Sprint("later ", i))
	}
	errs := make(chan error)
	for range 8 {
		go func() {
			c, err := f.Lookup(t.Context(), first.Hash)
			if err == nil && c.ID != first.ID {
				err = fmt.Errorf("found %s", c.ID)
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// Every spelling of a path below the root is one path, and no other path is taken for one.
func TestRel(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "root")
	f := &past{kept{statetest.NewStoreOf(t, root)}, t}
	for path, want := range map[string]string{
		"a": "a", "a/": "a", "./a//b/../c": "a/c", ".": "", root: "", root + "/a/b": "a/b", root + "/./a": "a", "a/..": "",
	} {
		if got, err := f.Rel(filepath.FromSlash(path)); err != nil || got != want {
			t.Errorf("%q is %q, %v, want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"", "..", "../root/a", "a/../..", filepath.Dir(root), root + "-beside", root + "/../other", "a\x00b"} {
		got, err := f.Rel(filepath.FromSlash(path))
		if wantError(t, err, state.ErrOutside); err == nil {
			t.Errorf("%q is %q", path, got)
		}
	}
}

// A replaced id leads to the end of its chain; one that leads to no object is forgotten.
func TestReplacedIDs(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	one, two, three := history.IDOf(f.track("1")), history.IDOf(f.track("2")), history.IDOf(f.track("3"))
	old, gone := object.Sum(object.Commit, []byte("old")), object.Sum(object.Commit, []byte("gone"))
	record := func(more map[object.ID]object.ID) {
		t.Helper()
		if err := f.Locked(t.Context(), func(l *history.Locked) error { return f.RecordReplaced(l, more) }); err != nil {
			t.Fatal(err)
		}
	}
	record(map[object.ID]object.ID{old: one, two: two})
	record(map[object.ID]object.ID{one: three, two: gone})
	want := map[object.ID]object.ID{old: three, one: three}
	if got := f.ReadReplaced(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("replaced %v, want %v", got, want)
	}
	if c, err := f.Lookup(t.Context(), old.String()); err != nil || history.IDOf(c) != three {
		t.Errorf("the old id is %v, %v, want %s", c, err, three)
	}
	if err := f.DB.WritePrivate(odb.PrivateReplaced, []byte("not a list\n"+old.String()+" "+three.String()+"\n"+old.String()+"\n")); err != nil {
		t.Fatal(err)
	}
	if got := f.ReadReplaced(); len(got) != 1 || got[old] != three {
		t.Errorf("of a damaged list %v is read", got)
	}
}

// A replacement that is not there counts for nothing: its id is in no answer, and what it was to replace is found.
func TestReplacementsThatAreGone(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	c := f.track("1")
	old, gone := object.Sum(object.Commit, []byte("old")), object.Sum(object.Commit, []byte("gone"))
	list := fmt.Sprintf("%s %s\n%s %s\n%s %s\n", c.ID, gone, c.Hash, gone, old, gone)
	if err := f.DB.WritePrivate(odb.PrivateReplaced, []byte(list)); err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{c.ID, c.Hash, c.ID[:8]} {
		if got, err := f.Lookup(t.Context(), spec); err != nil || got.ID != c.ID {
			t.Errorf("%s is %v, %v", spec, got, err)
		}
	}
	_, err := f.Lookup(t.Context(), old.String())
	if wantError(t, err, state.ErrNotFound); err != nil && strings.Contains(err.Error(), gone.String()) {
		t.Errorf("the answer names another id: %v", err)
	}
	list = fmt.Sprintf("%s %s\n%s %s\n", old, c.ID, c.ID, gone)
	if err := f.DB.WritePrivate(odb.PrivateReplaced, []byte(list)); err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{old.String(), c.ID} { // a chain leads to its last id that is there
		if got, err := f.Lookup(t.Context(), spec); err != nil || got.ID != c.ID {
			t.Errorf("%s is %v, %v", spec, got, err)
		}
	}
	passed := history.TestResult{Checkpoint: c.ID, Command: state.Paths{"true"}, When: c.When}
	if err := f.NoteTest(t.Context(), passed); err != nil {
		t.Fatal(err)
	}
	if all, err := f.TestResults(t.Context()); err != nil || len(all) != 1 || all[0].Checkpoint != c.ID {
		t.Errorf("results %+v, %v", all, err)
	}
}

// Losses are kept in their order, and a message names the one that a text asks about.
func TestLosses(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	if list, err := f.Losses(); err != nil || len(list) > 0 {
		t.Errorf("a new store lost %v, %v", list, err)
	}
	cut := history.Loss{Kind: "checkpoint", Checkpoint: strings.Repeat("1", 40), Text: "checkpoint 1 is lost"}
	ref := history.Loss{Kind: "ref", Ref: history.RefPins + "p", Text: "the pin p is gone"}
	moved := history.Loss{Kind: "ref", Ref: history.RefTracks + "d", Now: strings.Repeat("2", 40), Text: "the line of d has moved"}
	path := history.Loss{Kind: "path", Path: "a\xff", Checkpoint: strings.Repeat("3", 40), Text: "a is lost"}
	for _, losses := range [][]history.Loss{{cut, ref}, {moved, path}} {
		if err := f.Locked(t.Context(), func(l *history.Locked) error { return f.RecordLosses(l, losses) }); err != nil {
			t.Fatal(err)
		}
	}
	list, err := f.Losses()
	if err != nil || len(list) != 4 || list[0].Text != cut.Text || list[3].Path != "a\xff" || list[0].When.IsZero() {
		t.Errorf("%+v, %v", list, err)
	}
	for name, want := range map[string]string{
		cut.Checkpoint: cut.Text, cut.Checkpoint[:7]: cut.Text, ref.Ref: ref.Text,
		moved.Ref: "", path.Checkpoint: "", strings.Repeat("4", 40): "",
	} {
		if got := f.LossOf(name); strings.HasPrefix(got, want) != true || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	data, err := f.DB.ReadPrivate(odb.PrivateLost)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.DB.WritePrivate(odb.PrivateLost, data[:len(data)-10]); err != nil {
		t.Fatal(err)
	}
	if list, err := f.Losses(); err != nil || len(list) != 3 {
		t.Errorf("of a torn list %+v, %v", list, err)
	}
}

// An id of a line may be any text: no two ids share a ref, and git takes every ref.
func TestLineRefs(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	dir := o.Init(filepath.Join(t.TempDir(), "r"))
	met := make(map[string]string)
	for _, id := range []string{"s", "S", "a/b", "a.lock", "..", "+", "con", strings.Repeat("x", 179), strings.Repeat("x", 500), strings.Repeat("x", 501), strings.Repeat("é", 100), "\x00"} {
		ref := history.LineRef(id)
		o.In(dir, "check-ref-format", ref)
		if strings.Count(ref, "/") != strings.Count(history.RefSessions, "/") {
			t.Errorf("%q: %s is not one name below %s", id, ref, history.RefSessions)
		}
		if other, known := met[strings.ToLower(ref)]; known {
			t.Errorf("%q and %q share %s", id, other, ref)
		}
		met[strings.ToLower(ref)] = id
	}
}
