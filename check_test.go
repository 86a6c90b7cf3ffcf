package cairn_test

import (
	"fmt"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestCheckBesideOthers: what others are just about is no damage.
func TestCheckBesideOthers(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
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
