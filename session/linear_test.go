package session_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// wayBack is a way of taking back a turn. Each call follows the one before it, and each
// changes all paths of the turn.
type wayBack struct {
	name   string
	goBack func(f *fixture, turn *session.Step) (*cairn.Result, error)

	ofPatch bool // it takes back, or brings back, the files of a patch
}

// waysBack alternate: one takes the turn back, the next brings it back.
var waysBack = []wayBack{
	{"session revert", func(f *fixture, turn *session.Step) (*cairn.Result, error) {
		_, res, err := f.Revert(background, turn.Session, session.Target{Message: turn.Message}, session.MoveOptions{})
		return res, err
	}, false},
	{"unrevert", func(f *fixture, turn *session.Step) (*cairn.Result, error) {
		_, res, err := f.Unrevert(background, turn.Session, session.MoveOptions{})
		return res, err
	}, false},
	{"restore", func(f *fixture, turn *session.Step) (*cairn.Result, error) {
		return f.repo.Restore(background, turn.Before.ID, cairn.RestoreOptions{})
	}, false},
	{"undo", func(f *fixture, _ *session.Step) (*cairn.Result, error) {
		return f.repo.Undo(background, cairn.RevertOptions{})
	}, false},
	{"redo", func(f *fixture, _ *session.Step) (*cairn.Result, error) {
		return f.repo.Redo(background, cairn.RevertOptions{})
	}, false},
	{"restore of all", func(f *fixture, turn *session.Step) (*cairn.Result, error) {
		return f.repo.Restore(background, turn.After.ID, cairn.RestoreOptions{})
	}, false},
	{"revert of a patch", func(f *fixture, turn *session.Step) (*cairn.Result, error) {
		patch, err := f.repo.Patch(background, turn.Before.ID, turn.After.ID)
		if err != nil {
			return nil, err
		}
		return f.repo.RevertPatches(background, []cairn.Patch{patch}, cairn.RevertPatchesOptions{})
	}, true},
	{"restore of all again", func(f *fixture, turn *session.Step) (*cairn.Result, error) {
		return f.repo.Restore(background, turn.After.ID, cairn.RestoreOptions{})
	}, true},
	{"revert of a range", func(f *fixture, turn *session.Step) (*cairn.Result, error) {
		return f.repo.Revert(background, cairn.Range{From: turn.Before.ID, To: turn.After.ID}, cairn.RevertOptions{})
	}, false},
	{"restore of all once more", func(f *fixture, turn *session.Step) (*cairn.Result, error) {
		return f.repo.Restore(background, turn.After.ID, cairn.RestoreOptions{})
	}, true},
	{"all hunks of the session", func(f *fixture, turn *session.Step) (*cairn.Result, error) {
		opt := cairn.RevertOptions{Hunks: f.allHunks(turn.Session)}
		if len(opt.Hunks) == 0 {
			return &cairn.Result{}, nil // directories have none
		}
		return f.RevertHunks(background, turn.Session, session.Scope{}, opt)
	}, true},
}

func (f *fixture) allHunks(id string) (names []string) {
	f.Helper()
	for d, err := range f.Diff(background, id, session.Scope{}, cairn.DiffOptions{Hunks: true}) {
		if err != nil {
			f.Fatal(err)
		}
		for i := range d.Hunks {
			names = append(names, d.Hunks[i].ID)
		}
	}
	return names
}

// TestHunksOfOneFileAreLinear compares the allocations per hunk for a file of few hunks and one of
// many, half of which go back by a merge. The user wrote between the two steps that changed the
// file, so the old side is a merge, too.
func TestHunksOfOneFileAreLinear(t *testing.T) {
	few, many := hunkAllocations(t, 1_250), hunkAllocations(t, 10_000)
	t.Logf("%.0f bytes a hunk of 1,250, %.0f of 10,000", few, many)
	if many > 1.5*few {
		t.Errorf("%.0f bytes a hunk of 1,250, %.0f of 10,000", few, many)
	}
}

// hunkAllocations returns the bytes a hunk that naming n hunks and taking half of them back allocate.
func hunkAllocations(t *testing.T, n int) float64 {
	t.Helper()
	text := func(first, second, user bool) string {
		var b strings.Builder
		for i := range 4 * n {
			switch {
			case first && i%8 == 2, second && i%8 == 6:
				fmt.Fprintf(&b, "agent %d\n", i)
			case user && i == 0:
				b.WriteString("user\n")
			default:
				fmt.Fprintf(&b, "line %d\n", i)
			}
		}
		return b.String()
	}
	f := newFixture(t, gittest.Tree{"a": gittest.File(text(false, false, false))})
	f.step("s", "m", "1", func() { f.write("a", text(true, false, false)) })
	f.write("a", text(true, false, true))
	f.step("s", "m", "2", func() { f.write("a", text(true, true, true)) })
	f.write("a", text(true, true, true)+"more\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	names := f.allHunks("s")
	res := f.revertHunks("s", session.Scope{}, cairn.RevertOptions{Hunks: names[:n/2]})
	runtime.ReadMemStats(&after)
	if len(names) != n || !res.Complete() || res.Operation == "" {
		t.Fatalf("%d hunks, %+v", len(names), res)
	}
	return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
}

// turnShape makes the n paths of a turn.
type turnShape struct {
	name  string
	begin func(f *fixture, n int) // before the turn
	turn  func(f *fixture, n int)

	small, large int
	onlyDirs     bool // so that no patch names them
}

var turnShapes = []turnShape{
	{"new files in one directory", nothingBegins, func(f *fixture, n int) {
		for i := range n {
			f.write(fmt.Sprintf("dir/%06d.txt", i), fmt.Sprint(i))
		}
	}, 600, 4_800, false},
	{"new files in many directories", nothingBegins, func(f *fixture, n int) {
		for i := range n {
			f.write(fmt.Sprintf("dir/%04d/%d.txt", i/10, i%10), fmt.Sprint(i))
		}
	}, 300, 1_500, false},
	{"moved files of equal contents", func(f *fixture, n int) {
		for i := range n / 2 {
			f.write(fmt.Sprintf("old/%06d.txt", i), "")
		}
	}, func(f *fixture, _ int) {
		if err := os.Rename(f.path("old"), f.path("new")); err != nil {
			f.Fatal(err)
		}
	}, 300, 1_500, false},
	{"empty directories", nothingBegins, func(f *fixture, n int) {
		for i := range n {
			if err := os.MkdirAll(f.path(fmt.Sprintf("dir/%06d", i)), 0o755); err != nil {
				f.Fatal(err)
			}
		}
	}, 300, 1_500, true},
}

func nothingBegins(*fixture, int) {}

// TestV07_TakingBackIsLinear compares the allocations per path of every way back for a
// small and a large turn. A way that reads a directory for every path of it allocates in
// proportion to the square. The test does not run beside others, because allocations
// are counted for the whole process.
func TestV07_TakingBackIsLinear(t *testing.T) {
	gittest.Long(t)
	const most = 1.5
	for _, shape := range turnShapes {
		t.Run(shape.name, func(t *testing.T) {
			small, large := gittest.Rounds(shape.small), gittest.Rounds(shape.large)
			few, many := allocationsOf(t, shape, small), allocationsOf(t, shape, large)
			for i, way := range waysBack {
				t.Logf("%-20s %7.0f bytes a path of %d, %7.0f of %d", way.name, few[i], small, many[i], large)
				if many[i] > most*few[i] && !(shape.onlyDirs && way.ofPatch) {
					t.Errorf("%s: %.0f bytes a path of %d, %.0f of %d", way.name, few[i], small, many[i], large)
				}
			}
		})
	}
}

// allocationsOf returns the bytes a path that each way back allocates for a turn of n.
func allocationsOf(t *testing.T, shape turnShape, n int) []float64 {
	t.Helper()
	f := newFixture(t, nil)
	f.write("beside", "x")
	shape.begin(f, n)
	turn := f.step("s", "m", "a", func() { shape.turn(f, n) })
	bytes := make([]float64, len(waysBack))
	for i, way := range waysBack {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		res, err := way.goBack(f, turn)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatalf("%s: %v", way.name, err)
		}
		if moved := len(res.Restored) + len(res.Deleted); moved < n && !(shape.onlyDirs && way.ofPatch) || !res.Complete() {
			t.Fatalf("%s: %d of %d paths, %d kept, %d in conflict", way.name, moved, n, len(res.Kept), len(res.Conflicts))
		}
		bytes[i] = float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	}
	return bytes
}
