package cairn_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestTrackAfterTheClockWasSetBack: a checkpoint of the time in which the clock was days ahead does not stay the newest.
// The day after has a line of its own again, so that lines end and their age counts.
func TestTrackAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"a day": 24 * time.Hour, "a year": 366 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newAged(t)
			made := []string{f.trackAgo(2*time.Hour, "1"), f.trackAgo(-ahead, "2"), f.trackAgo(0, "3"), f.trackAgo(-time.Minute, "4"), f.trackAgo(-50*time.Hour, "5")}
			var ids []string
			for _, c := range f.log() {
				ids = append(ids, c.ID)
			}
			slices.Reverse(ids)
			if !slices.Equal(ids, made) {
				t.Errorf("checkpoints %q, want %q", ids, made)
			}
			line := "refs/cairn/tracks/" + gittest.OneDay().Add(50*time.Hour).UTC().Format(time.DateOnly)
			if got := strings.TrimSpace(gittest.NewOracle(t).In(f.at().StoreDir(), "rev-parse", line)); got != made[4] {
				t.Errorf("the line of the next day is at %s, want %s", got, made[4])
			}
			f.write("a", "6")
			if _, err := f.at().Restore(background, "@", cairn.RestoreOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := f.read("a"); got != "5" {
				t.Errorf("restored %q", got)
			}
		})
	}
}
