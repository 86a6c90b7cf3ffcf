package cairn_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// undatedStore is a root whose store lies where the times of directories tell nothing, with
// two Repos that stay open.
func undatedStore(t *testing.T, watch bool) (f *fixture, one, other *cairn.Repo) {
	t.Helper()
	f = newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "d/b": gittest.File("1\n")})
	f.data = gittest.UndatedDir(t)
	f.opt.DataDir, f.opt.Watch = f.data, watch
	one = f.repo()
	f.opt.Watch = false
	return f, one, f.repo()
}

// TestUndatedStore: what another process makes, removes and makes again is there, or gone,
// at once, although no directory of the store tells.
func TestUndatedStore(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for _, watch := range []bool{false, true} {
		f, one, other := undatedStore(t, watch)
		f.trackBy(one)
		for i := range 5 {
			f.write("a", string(rune('a'+i)))
			made := f.trackBy(other)
			if c, err := one.Lookup(t.Context(), made.Hash); err != nil || c.ID != made.Checkpoint {
				t.Fatalf("watching %v: the other's %d. checkpoint: %+v, %v", watch, i, c, err)
			}
			f.write("d/b", string(rune('a'+i)))
			if mine := f.trackBy(one); mine.Changed != 1 {
				t.Errorf("watching %v: %d paths changed", watch, mine.Changed)
			}
		}
		f.write("a", "to be forgotten")
		lost := f.trackBy(one)
		f.write("a", "z")
		f.trackBy(one)
		if _, err := other.Clean(t.Context(), cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 1, KeepLast: 1}, Thorough: true}); err != nil {
			t.Fatal(err)
		}
		if c, err := one.Lookup(t.Context(), lost.Hash); err == nil {
			t.Errorf("watching %v: %s was cleaned away, and is %+v", watch, lost.Hash, c)
		}
		f.write("a", "to be forgotten")
		again := f.trackBy(one)
		if findings, err := f.repo().Check(t.Context(), cairn.CheckOptions{}); err != nil || len(findings) > 0 {
			t.Errorf("watching %v: %+v, %v", watch, findings, err)
		}
		f.write("a", "later")
		if _, err := other.Restore(t.Context(), again.Hash, cairn.RestoreOptions{}); err != nil {
			t.Error(err)
		}
		if text := f.read("a"); text != "to be forgotten" {
			t.Errorf("watching %v: %q", watch, text)
		}
	}
}
