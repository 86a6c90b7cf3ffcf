package cairn_test

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestTooLargeForTheStore: a capture that no cleaning makes room for reads a large file once, or twice where
// only a cleaning can tell. An attempt follows each cleaning.
func TestTooLargeForTheStore(t *testing.T) {
	t.Parallel()
	const budget = 4 << 20
	for name, c := range map[string]struct {
		before    []int // sizes of the file in earlier checkpoints
		size      int
		cleanings int
	}{
		"larger than the budget, no checkpoint":  {nil, 16 << 20, 0},
		"larger than the budget, one checkpoint": {[]int{1 << 10}, 16 << 20, 0},
		"beside protected checkpoints":           {[]int{1 << 20, 1<<20 + 1}, 3 << 20, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("one")})
			f.opt.Retention = &cairn.Retention{KeepLast: 10, MaxBytes: budget, MinFree: cairn.NoLimit}
			f.opt.MaxFileSize = 32 << 20
			r := f.repo()
			for i, size := range c.before {
				f.write("big", noise(10+i, size))
				if _, err := r.Track(background, cairn.TrackOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			cleaned := r.CountCleanings()
			f.write("big", noise(1, c.size))
			_, err := r.Track(background, cairn.TrackOptions{})
			assertError(t, err, cairn.ErrNoSpace)
			if n := cleaned(); n != c.cleanings {
				t.Errorf("%d cleanings, not %d: %v", n, c.cleanings, err)
			}
		})
	}
}
