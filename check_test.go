package cairn_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestCheckBesideOthers: what others are just about is no damage.
func TestCheckBesideOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1"), "d/b": gittest.File("1")})
	f.opt.Watch, f.opt.NoSync = true, false
	busy, state := f.repo(), f.trackAll()
	f.opt.Watch = false
	checks := f.repo()
	churn(t, func(n int) {
		f.write("a", fmt.Sprint(n))
		_, err := busy.Track(background, cairn.TrackOptions{})
		if err == nil && n%5 == 0 {
			_, err = busy.Restore(background, state, cairn.RestoreOptions{})
		}
		if err != nil {
			t.Error(err)
		}
	})
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for range rounds {
		if found, err := checks.Check(t.Context(), cairn.CheckOptions{}); err != nil || len(found) > 0 {
			t.Errorf("%+v, %v", found, err)
		}
	}
}

// TestCheckTellsOfTheDead: a leftover of a dead process stays a finding.
func TestCheckTellsOfTheDead(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	f.trackAll()
	r := f.repo()
	left := filepath.Join(r.StoreDir(), "cairn", ".tmp_cairn_0123456789abcdef")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tell := func(when string, want int) {
		t.Helper()
		found, err := r.Check(t.Context(), cairn.CheckOptions{})
		if err != nil || len(found) != want || want > 0 && (found[0].Kind != "temporary" || string(found[0].Path) != left) {
			t.Errorf("%s: %+v, %v", when, found, err)
		}
	}
	tell("left by a dead one", 1)
	if err := os.Remove(left); err != nil {
		t.Fatal(err)
	}
	tell("removed", 0)
}
