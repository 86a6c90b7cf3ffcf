package cairn_test

import (
	"context"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
)

// BenchmarkTrackAfterPause is an unchanged track of a Repo that stays open, in a row and
// after a pause, in which the processors of a virtual machine go to sleep: the second is
// what an agent pays between two steps. It shows whether the threads of a scan begin apart.
func BenchmarkTrackAfterPause(b *testing.B) {
	root := b.TempDir()
	growTree(b, root, 10_000)
	r := opened(b, root, b.TempDir(), false)
	defer r.Close()
	for name, pause := range map[string]time.Duration{"none": 0, "5ms": 5 * time.Millisecond} {
		b.Run("pause="+name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				time.Sleep(pause)
				begun := time.Now()
				if _, err := r.Track(context.Background(), cairn.TrackOptions{}); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(begun))
			}
			reportTimes(b, times)
		})
	}
}
