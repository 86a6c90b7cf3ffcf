package collect

import (
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
)

// TestV10_RoomLeavesCleanPacks: a store at its budget makes room again and again, and each track
// waits for its copies. Only packs with garbage are copied.
func TestV10_RoomLeavesCleanPacks(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	shared := string(gittest.Prose(7, 3000))
	l.Track("refs/cairn/gone", map[string]string{"shared": shared, "own": "dead"})
	l.Track("refs/cairn/dead", map[string]string{"other": "dead, too"})
	dirty := l.PackNames()
	l.Track("refs/cairn/stays", map[string]string{"shared": shared})
	l.Fill("refs/cairn/stays", 12)
	l.Forget("refs/cairn/gone")
	l.Forget("refs/cairn/dead")
	out := collect(t, l.DB, Options{Thorough: true, CopyAtOnce: 1 << 20})
	slices.Sort(out.Removed)
	if !slices.Equal(out.Removed, dirty) || len(out.Added) != 1 {
		t.Errorf("removed %v, added %v; want %v to make place for one", out.Removed, out.Added, dirty)
	}
	l.Check(true)
	if out := collect(t, l.DB, Options{Thorough: true}); out.Packs != 1 {
		t.Errorf("a cleaning without hurry leaves %d packs", out.Packs)
	}
}

// TestV10_RoomMergesVeryManyPacks: a store that is only ever cleaned in a hurry has a bounded
// number of packs.
func TestV10_RoomMergesVeryManyPacks(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/stays", maxUnmerged)
	if out := collect(t, l.DB, Options{Thorough: true, CopyAtOnce: 1 << 20}); out.Packs >= maxUnmerged/2 {
		t.Errorf("%d packs", out.Packs)
	}
	l.Check(true)
}
