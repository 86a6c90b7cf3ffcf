package cairn_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// aged is a root whose checkpoints are as old as a test wants them.
type aged struct {
	*fixture
	time time.Time
}

func newAged(t *testing.T) *aged {
	return &aged{newFixture(t, gittest.Tree{"a": gittest.File("0")}), time.Now()}
}

func (f *aged) at() *cairn.Repo {
	r := f.repo()
	r.SetClock(func() time.Time { return f.time })
	return r
}

// trackAgo records a state as if it were made long ago, and returns the commit.
func (f *aged) trackAgo(ago time.Duration, content string) string {
	f.Helper()
	f.time = time.Now().Add(-ago)
	f.write("a", content)
	got, err := f.at().Track(background, cairn.TrackOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.time = time.Now()
	return got.Checkpoint
}

func (f *aged) clean(opt cairn.CleanOptions) *cairn.Cleaned {
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

func (f *aged) wantOnly(all []string, live ...int) {
	f.Helper()
	for i, id := range all {
		if want := slices.Contains(live, i); f.has(id) != want {
			f.Errorf("checkpoint %d is there: %v, want %v", i, !want, want)
		}
	}
}

const day = 24 * time.Hour

func TestCleanByAge(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var ids []string
	for i, ago := range []time.Duration{20 * day, 9 * day, 6 * day, 0} {
		ids = append(ids, f.trackAgo(ago, fmt.Sprint("content ", i)))
	}
	keep := cairn.Retention{KeepLast: 1}
	dry := f.clean(cairn.CleanOptions{Retention: keep, DryRun: true})
	f.wantOnly(ids, 0, 1, 2, 3)
	got := f.clean(cairn.CleanOptions{Retention: keep, Thorough: true})
	if len(got.Lines) != 2 || got.Checkpoints != 2 || got.Kept != 2 || got.Freed <= 0 {
		t.Errorf("cleaned %+v", got)
	}
	if !slices.Equal(dry.Lines, got.Lines) || dry.Checkpoints != got.Checkpoints || dry.Freed <= 0 {
		t.Errorf("the dry run said %+v, then %+v went", dry, got)
	}
	f.wantOnly(ids, 2, 3)
	if again := f.clean(cairn.CleanOptions{Retention: keep}); len(again.Lines)+again.Checkpoints != 0 {
		t.Errorf("cleaned again: %+v", again)
	}
}

// A line lives as long as its last checkpoint, with all that came before on it.
func TestCleanKeepsLinesWhole(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	f.time = time.Now()
	midnight := time.Now().UTC().Truncate(day)
	early := f.trackAgo(time.Since(midnight.Add(-7*day))-time.Second, "early")
	f.trackAgo(time.Since(midnight.Add(-6*day))+time.Second, "late")
	f.trackAgo(0, "now")
	f.clean(cairn.CleanOptions{Retention: cairn.Retention{KeepLast: 1}})
	if !f.has(early) {
		t.Error("the beginning of a line went that is alive")
	}
}

func TestR66PausedForEightDays(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var ids []string
	for i := range 25 {
		ids = append(ids, f.trackAgo(time.Duration(40-i)*day, fmt.Sprint(i)))
	}
	f.clean(cairn.CleanOptions{})
	f.wantOnly(ids, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)
	f.restoreAll(ids[5])
	if f.read("a") != "5" {
		t.Errorf("a holds %q", f.read("a"))
	}
}

func TestCleanByCount(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var ids []string
	for i := range 10 {
		ids = append(ids, f.trackAgo(time.Duration(30-i)*time.Millisecond, fmt.Sprint("content ", i)))
	}
	got := f.clean(cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 3, KeepLast: 2}, Thorough: true})
	if got.Checkpoints != 7 || got.Kept != 3 {
		t.Errorf("cleaned %+v", got)
	}
	f.wantOnly(ids, 7, 8, 9)
	n := 0
	for _, err := range f.repo().Checkpoints(background) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 3 {
		t.Errorf("%d checkpoints are listed, want 3", n)
	}
	// The line goes on where it was cut, and is cut again.
	ids = append(ids, f.trackAgo(0, "more"))
	f.clean(cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 2, KeepLast: 1}, Thorough: true})
	f.wantOnly(ids, 9, 10)
	f.restoreAll(ids[9])
	f.sound()
}

func TestCleanByBudget(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var ids []string
	for i := range 12 {
		ids = append(ids, f.trackAgo(time.Duration(30-i)*time.Millisecond, noise(i, 100_000)))
	}
	got := f.clean(cairn.CleanOptions{Retention: cairn.Retention{MaxBytes: 600_000, KeepLast: 1}})
	if got.Size > 600_000 || got.OverBudget != 0 {
		t.Errorf("cleaned %+v", got)
	}
	f.wantOnly(ids, 7, 8, 9, 10, 11)
	got = f.clean(cairn.CleanOptions{Retention: cairn.Retention{MaxBytes: 100_000, KeepLast: 3}})
	if got.OverBudget < 150_000 || got.Kept != 3 {
		t.Errorf("cleaned %+v, want it to say that three cannot fit", got)
	}
}

// noise is text that does not compress.
func noise(seed, size int) string {
	state := uint64(seed)*2654435761 + 1
	data := make([]byte, size)
	for i := range data {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		data[i] = byte(state >> 32)
	}
	return string(data)
}

func TestCleanKeepsPins(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	ids := []string{f.trackAgo(30*day+time.Second, "before"), f.trackAgo(30*day, "pinned")}
	if err := f.repo().Pin(background, ids[1], "good"); err != nil {
		t.Fatal(err)
	}
	ids = append(ids, f.trackAgo(0, "now"))
	f.clean(cairn.CleanOptions{Retention: cairn.Retention{KeepLast: 1, MaxCount: 1, MaxBytes: 1}, Thorough: true})
	f.wantOnly(ids, 1, 2)
	f.restoreAll("good")
	if f.read("a") != "pinned" {
		t.Errorf("a holds %q", f.read("a"))
	}
}

// Operations go one by one; what is left can be undone.
func TestCleanCutsOperations(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	one := f.trackAgo(0, "one")
	two := f.trackAgo(0, "two")
	var befores []string
	for i, ago := range []time.Duration{30 * day, 20 * day, 2 * day, day, 0} {
		f.time = time.Now().Add(-ago)
		res, err := f.at().Restore(background, []string{one, two}[i%2], cairn.RestoreOptions{})
		if err != nil {
			t.Fatal(err)
		}
		befores = append(befores, res.Operation)
	}
	f.time = time.Now()
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

// R67: sessions of others die and live by themselves, whatever the days do.
func TestR67SessionsOfTheirOwn(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	old, recent := f.trackAgo(30*day, "old session"), f.trackAgo(2*day, "a session")
	o, store := gittest.NewOracle(t), f.repo().StoreDir()
	o.In(store, "update-ref", "refs/cairn/sessions/s1/head", old)
	o.In(store, "update-ref", "refs/cairn/sessions/s2/head", recent)
	for _, ref := range strings.Fields(o.In(store, "for-each-ref", "--format=%(refname)", "refs/cairn/tracks")) {
		o.In(store, "update-ref", "-d", ref)
	}
	now := f.trackAgo(0, "now")
	got := f.clean(cairn.CleanOptions{Retention: cairn.Retention{KeepLast: 1}, Thorough: true})
	if !slices.Equal(got.Lines, []string{"refs/cairn/sessions/s1/head"}) {
		t.Errorf("lines %v went", got.Lines)
	}
	f.wantOnly([]string{old, recent, now}, 1, 2)
}

// R67: a store whose refs cannot be read is damaged, not superfluous.
func TestR67TornRefDeletesNothing(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	ids := []string{f.trackAgo(30*day, "old"), f.trackAgo(0, "now")}
	store := f.repo().StoreDir()
	refs, err := filepath.Glob(filepath.Join(store, "refs", "cairn", "tracks", "*"))
	if err != nil || len(refs) != 2 {
		t.Fatal(refs, err)
	}
	before := gittest.Manifest(t, filepath.Join(store, "objects"))
	if err := os.WriteFile(refs[1], []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := f.at().Clean(background, cairn.CleanOptions{Retention: cairn.Retention{KeepLast: 1, MaxCount: 1}, Thorough: true})
	if err != nil || got.Blocked == nil {
		t.Errorf("cleaned %+v, %v; want it to say what is in the way", got, err)
	}
	if diff := gittest.Diff(before, gittest.Manifest(t, filepath.Join(store, "objects"))); diff != "" {
		t.Errorf("objects are not as before:\n%s", diff)
	}
	f.wantOnly(ids, 0, 1)
}

// The newest checkpoint lives whatever the policy says.
func TestCleanNeverEmptiesAStore(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	ids := []string{f.trackAgo(90*day, "old"), f.trackAgo(80*day, "less old")}
	f.clean(cairn.CleanOptions{Retention: cairn.Retention{MaxAge: 1, MaxCount: 1, MaxBytes: 1, KeepLast: cairn.NoLimit}, Thorough: true})
	f.wantOnly(ids, 1)
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

func TestCleanIfDue(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	f.trackAgo(30*day, "old")
	f.trackAgo(0, "now")
	keep := cairn.Retention{KeepLast: 1}
	if got, err := f.at().CleanIfDue(background, keep, time.Hour); err != nil || got == nil || got.Checkpoints != 1 {
		t.Errorf("the first time %+v, %v", got, err)
	}
	if got, err := f.at().CleanIfDue(background, keep, time.Hour); err != nil || got != nil {
		t.Errorf("at once again %+v, %v", got, err)
	}
	f.time = f.time.Add(time.Hour + time.Second)
	if got, err := f.at().CleanIfDue(background, keep, time.Hour); err != nil || got == nil {
		t.Errorf("an hour later %+v, %v", got, err)
	}
	f.time = f.time.Add(-24 * time.Hour)
	if got, err := f.at().CleanIfDue(background, keep, time.Hour); err != nil || got == nil {
		t.Errorf("with a clock that was set back %+v, %v", got, err)
	}
}

// R89: cleaning that meets another is skipped.
func TestR89CleanWhileBusy(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	f.trackAgo(30*day, "old")
	f.trackAgo(0, "now")
	results := make(chan error, 8)
	for range cap(results) {
		r := f.at()
		go func() {
			_, err := r.Clean(background, cairn.CleanOptions{Retention: cairn.Retention{KeepLast: 1}})
			results <- err
		}()
	}
	done := 0
	for range cap(results) {
		switch err := <-results; {
		case err == nil:
			done++
		case !errors.Is(err, cairn.ErrBusy):
			t.Error(err)
		}
	}
	if done == 0 {
		t.Error("nobody cleaned")
	}
	f.sound()
}

func timeOf(n int) time.Duration { return time.Duration(n) }

// What was cut goes on to where it was pushed before. A remote that never had its
// beginning may refuse it; that keeps nothing else from being pushed.
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
