package cairn_test

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// TestTrackAfterTheClockWasSetBack: a checkpoint of the time in which the clock was days ahead does not stay the newest.
func TestTrackAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"a day": 24 * time.Hour, "a year": 366 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newAged(t)
			made := []string{f.trackAgo(2*time.Hour, "1"), f.trackAgo(-ahead, "2"), f.trackAgo(0, "3"), f.trackAgo(-time.Minute, "4")}
			var ids []string
			for _, c := range f.log() {
				ids = append(ids, c.ID)
			}
			slices.Reverse(ids)
			if !slices.Equal(ids, made) {
				t.Errorf("checkpoints %q, want %q", ids, made)
			}
			f.write("a", "5")
			if _, err := f.at().Restore(background, "@", cairn.RestoreOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := f.read("a"); got != "4" {
				t.Errorf("restored %q", got)
			}
		})
	}
}
