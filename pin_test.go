package cairn_test

import (
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
