package retention

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

func TestCleanByAge(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var ids []string
	for i, ago := range []time.Duration{20 * day, 9 * day, 6 * day, 0} {
		ids = append(ids, f.trackAgo(ago, fmt.Sprint("content ", i)))
	}
	keep := settings.Retention{KeepLast: 1}
	dry := f.clean(CleanOptions{Retention: keep, DryRun: true})
	f.wantOnly(ids, 0, 1, 2, 3)
	got := f.clean(CleanOptions{Retention: keep, Thorough: true})
	if len(got.Lines) != 2 || got.Checkpoints != 2 || got.Kept != 2 || got.Freed <= 0 {
		t.Errorf("cleaned %+v", got)
	}
	if !slices.Equal(dry.Lines, got.Lines) || dry.Checkpoints != got.Checkpoints || dry.Freed <= 0 {
		t.Errorf("the dry run said %+v, then %+v went", dry, got)
	}
	f.wantOnly(ids, 2, 3)
	if again := f.clean(CleanOptions{Retention: keep}); len(again.Lines)+again.Checkpoints != 0 {
		t.Errorf("cleaned again: %+v", again)
	}
}

// A line lives as long as its last checkpoint, with all that came before on it.
func TestCleanKeepsLinesWhole(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	early := f.trackAgo(7*day+11*time.Hour, "early") // one hour after midnight
	f.trackAgo(6*day+13*time.Hour, "late")           // one hour before the next
	f.trackAgo(0, "now")
	f.clean(CleanOptions{Retention: settings.Retention{KeepLast: 1}})
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
	f.clean(CleanOptions{})
	f.wantOnly(ids, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)
	_, rc, err := f.OpenFile(t.Context(), ids[5], "a")
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	if data, err := io.ReadAll(rc); err != nil || string(data) != "5" {
		t.Errorf("a holds %q, %v", data, err)
	}
}

func TestCleanByCount(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var ids []string
	for i := range 10 {
		ids = append(ids, f.trackAgo(time.Duration(30-i)*time.Millisecond, fmt.Sprint("content ", i)))
	}
	got := f.clean(CleanOptions{Retention: settings.Retention{MaxCount: 3, KeepLast: 2}, Thorough: true})
	if got.Checkpoints != 7 || got.Kept != 3 {
		t.Errorf("cleaned %+v", got)
	}
	f.wantOnly(ids, 7, 8, 9)
	n := 0
	for _, err := range f.Checkpoints(t.Context()) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 3 {
		t.Errorf("%d checkpoints are listed, want 3", n)
	}
	// The line goes on where it was cut, and is cut again.
	ids = append(ids, f.trackAgo(0, "more"))
	f.clean(CleanOptions{Retention: settings.Retention{MaxCount: 2, KeepLast: 1}, Thorough: true})
	f.wantOnly(ids, 9, 10)
}

func TestCleanByBudget(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var ids []string
	for i := range 12 {
		ids = append(ids, f.trackAgo(time.Duration(30-i)*time.Millisecond, string(gittest.Noise(uint64(i), 100_000))))
	}
	got := f.clean(CleanOptions{Retention: settings.Retention{MaxBytes: 600_000, KeepLast: 1}})
	if got.Size > 600_000 || got.OverBudget != 0 {
		t.Errorf("cleaned %+v", got)
	}
	f.wantOnly(ids, 7, 8, 9, 10, 11)
	got = f.clean(CleanOptions{Retention: settings.Retention{MaxBytes: 100_000, KeepLast: 3}})
	if got.OverBudget < 150_000 || got.Kept != 3 {
		t.Errorf("cleaned %+v, want it to say that three cannot fit", got)
	}
}

func TestCleanKeepsPins(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	ids := []string{f.trackAgo(30*day+time.Second, "before"), f.trackAgo(30*day, "pinned")}
	if err := f.Pin(t.Context(), ids[1], "good"); err != nil {
		t.Fatal(err)
	}
	ids = append(ids, f.trackAgo(0, "now"))
	f.clean(CleanOptions{Retention: settings.Retention{KeepLast: 1, MaxCount: 1, MaxBytes: 1}, Thorough: true})
	f.wantOnly(ids, 1, 2)
	if c, err := f.Lookup(t.Context(), "good"); err != nil || c.ID != ids[1] {
		t.Errorf("the pin is %v, %v", c, err)
	}
}

// R67: sessions of others die and live by themselves, whatever the days do.
func TestR67SessionsOfTheirOwn(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	old, recent := f.trackAgo(30*day, "old session"), f.trackAgo(2*day, "a session")
	f.setRef("refs/cairn/sessions/s1/head", old)
	f.setRef("refs/cairn/sessions/s2/head", recent)
	refs, err := f.DB.Refs(history.RefTracks)
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range refs {
		if err := f.DB.DeleteRef(ref.Name); err != nil {
			t.Fatal(err)
		}
	}
	now := f.trackAgo(0, "now")
	got := f.clean(CleanOptions{Retention: settings.Retention{KeepLast: 1}, Thorough: true})
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
	store := f.DB.Dir()
	refs, err := filepath.Glob(filepath.Join(store, "refs", "cairn", "tracks", "*"))
	if err != nil || len(refs) != 2 {
		t.Fatal(refs, err)
	}
	before := gittest.Manifest(t, filepath.Join(store, "objects"))
	if err := os.WriteFile(refs[1], []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := f.Clean(t.Context(), CleanOptions{Retention: settings.Retention{KeepLast: 1, MaxCount: 1}, Thorough: true})
	if err != nil || got.Blocked == nil {
		t.Errorf("cleaned %+v, %v; want it to say what is in the way", got, err)
	}
	gittest.AssertEqual(t, "objects", before, gittest.Manifest(t, filepath.Join(store, "objects")))
	f.wantOnly(ids, 0, 1)
}

// The newest checkpoint lives whatever the policy says.
func TestCleanNeverEmptiesAStore(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	ids := []string{f.trackAgo(90*day, "old"), f.trackAgo(80*day, "less old")}
	f.clean(CleanOptions{Retention: settings.Retention{MaxAge: 1, MaxCount: 1, MaxBytes: 1, KeepLast: settings.NoLimit}, Thorough: true})
	f.wantOnly(ids, 1)
}

// TestV17_KeepLastOfNone: nothing but the newest checkpoint is held, and no operation.
func TestV17_KeepLastOfNone(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var ids []string
	for i := range 6 {
		ids = append(ids, f.trackAgo(time.Duration(60-i)*time.Second, fmt.Sprint("content ", i)))
	}
	f.operation(time.Second, ids[5], ids[4])
	got := f.clean(CleanOptions{Retention: settings.Retention{KeepLast: settings.NoLimit, MaxCount: 1, MaxAge: 1}, Thorough: true})
	if got.Kept != 1 {
		t.Errorf("cleaned %+v", got)
	}
	f.wantOnly(ids, 5)
	for op, err := range f.Operations(t.Context()) {
		t.Errorf("operation %+v, %v is left", op, err)
	}
}

func TestCleanIfDue(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	f.trackAgo(30*day, "old")
	f.trackAgo(0, "now")
	keep := settings.Retention{KeepLast: 1}
	if got, err := f.CleanIfDue(t.Context(), keep, time.Hour); err != nil || got == nil || got.Checkpoints != 1 {
		t.Errorf("the first time %+v, %v", got, err)
	}
	if got, err := f.CleanIfDue(t.Context(), keep, time.Hour); err != nil || got != nil {
		t.Errorf("at once again %+v, %v", got, err)
	}
	f.time = f.time.Add(time.Hour + time.Second)
	if got, err := f.CleanIfDue(t.Context(), keep, time.Hour); err != nil || got == nil {
		t.Errorf("an hour later %+v, %v", got, err)
	}
	f.time = f.time.Add(-24 * time.Hour)
	if got, err := f.CleanIfDue(t.Context(), keep, time.Hour); err != nil || got == nil {
		t.Errorf("with a clock that was set back %+v, %v", got, err)
	}
}

// TestCleanIfDueTells: a cleaning that cannot begin says why.
func TestCleanIfDueTells(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	f.trackAgo(0, "now")
	broken := errors.New("an operation that cannot be finished")
	f.Recovery = func(context.Context, *history.Locked) error { return broken }
	if got, err := f.CleanIfDue(t.Context(), settings.Retention{KeepLast: 1}, time.Hour); !errors.Is(err, broken) || got != nil {
		t.Errorf("%+v, %v", got, err)
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
		r := f.reopened()
		go func() {
			_, err := r.Clean(t.Context(), CleanOptions{Retention: settings.Retention{KeepLast: 1}})
			results <- err
		}()
	}
	done := 0
	for range cap(results) {
		switch err := <-results; {
		case err == nil:
			done++
		case !errors.Is(err, ErrBusy):
			t.Error(err)
		}
	}
	if done == 0 {
		t.Error("no process cleaned")
	}
	f.sound()
}
