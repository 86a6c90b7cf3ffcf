package cairn_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// aged is a root whose checkpoints are as old as a test wants them.
type aged struct {
	*fixture
	time time.Time
}

func newAged(t *testing.T) *aged {
	return &aged{newFixture(t, gittest.Tree{"a": gittest.File("0")}), gittest.OneDay()}
}

func (f *aged) at() *cairn.Repo {
	r := f.repo()
	access.SetClock(r, func() time.Time { return f.time })
	return r
}

// trackAgo records a state as if it were made long ago, and returns the commit.
func (f *aged) trackAgo(ago time.Duration, content string) string {
	f.Helper()
	f.time = gittest.OneDay().Add(-ago)
	f.write("a", content)
	got, err := f.at().Track(background, cairn.TrackOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.time = gittest.OneDay()
	return got.Checkpoint
}

func (f *aged) clean(opt cairn.CleanOptions) *cairn.CleanResult {
	f.Helper()
	got, err := f.at().Clean(background, opt)
	if err != nil {
		f.Fatalf("clean: %v", err)
	}
	if got.Blocked != nil {
		f.Fatalf("clean: %v", got.Blocked)
	}
	f.sound()
	return got
}

// sound asks git whether the store is whole.
func (f *fixture) sound() {
	f.Helper()
	o := gittest.NewOracle(f)
	o.In(f.repo().StoreDir(), "fsck", "--strict", "--full", "--no-dangling")
	o.In(f.repo().StoreDir(), "log", "--all", "--oneline")
}

func (f *fixture) has(id string) bool {
	f.Helper()
	_, err := f.repo().Lookup(background, id)
	if err != nil && !errors.Is(err, cairn.ErrNotFound) {
		f.Fatal(err)
	}
	return err == nil
}

const day = 24 * time.Hour

// noise is text that does not compress.
func noise(seed, size int) string { return string(gittest.Noise(uint64(seed), size)) }

// Operations go one by one; the remaining ones can be undone.
func TestCleanCutsOperations(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	one := f.trackAgo(0, "one")
	two := f.trackAgo(0, "two")
	var befores []string
	for i, ago := range []time.Duration{30 * day, 20 * day, 2 * day, day, 0} {
		f.time = gittest.OneDay().Add(-ago)
		res, err := f.at().Restore(background, []string{one, two}[i%2], cairn.RestoreOptions{})
		if err != nil {
			t.Fatal(err)
		}
		befores = append(befores, res.Operation)
	}
	f.time = gittest.OneDay()
	f.clean(cairn.CleanOptions{Retention: cairn.Retention{KeepLast: 1}, Thorough: true})
	var left []string
	for op, err := range f.repo().Operations(background) {
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, op.ID)
	}
	slices.Reverse(left)
	if !slices.Equal(left, befores[2:]) {
		t.Errorf("operations %v are left, want %v", left, befores[2:])
	}
	for range 3 {
		if _, err := f.repo().Undo(background, cairn.RevertOptions{}); err != nil {
			t.Fatalf("undo: %v", err)
		}
	}
	if f.read("a") != "two" {
		t.Errorf("a holds %q", f.read("a"))
	}
	_, err := f.repo().Undo(background, cairn.RevertOptions{})
	assertError(t, err, cairn.ErrNotFound)
	f.sound()
}

// What is cleaned away must not be missed by the next captures.
func TestCleanKeepsTheStatCache(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	f.write("b", "the same all the time")
	for i := range 5 {
		f.trackAgo(30*day, fmt.Sprint(i))
	}
	f.trackAgo(0, "now")
	f.clean(cairn.CleanOptions{Retention: cairn.Retention{KeepLast: 1}, Thorough: true})
	f.write("b", "other")
	id := f.trackAll()
	f.write("b", "the same all the time") // which is in no checkpoint any more
	f.write("a", "3")
	f.trackAll()
	f.sound()
	f.restoreAll(id)
	f.sound()
}

func timeOf(n int) time.Duration { return time.Duration(n) }

// A line that was cut can be pushed to a remote that has its beginning. Another remote
// may refuse it; the other lines are pushed nevertheless.
func TestCleanAndPush(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	o := gittest.NewOracle(t)
	known, fresh := filepath.Join(t.TempDir(), "known.git"), filepath.Join(t.TempDir(), "fresh.git")
	for _, dir := range []string{known, fresh} {
		o.In(filepath.Dir(dir), "init", "-q", "--bare", dir)
	}
	for i := range 6 {
		f.trackAgo(time.Duration(30-i)*time.Millisecond, fmt.Sprint(i))
	}
	f.push(known)
	if got := f.clean(cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 2, KeepLast: 1}, Thorough: true}); got.Kept != 2 {
		t.Fatalf("cleaned %+v", got)
	}
	f.trackAgo(0, "later")
	if pushed := f.push(known); len(pushed) != 1 {
		t.Errorf("pushed %q to where its beginning is known", pushed)
	}
	f.push(fresh)
	o.Fsck(known)
	o.Fsck(fresh)
}
