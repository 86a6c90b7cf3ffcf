package retention

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// keepRules are the rules of the tests.
var keepRules = settings.Keep{All: day, Hourly: 7 * day, Daily: 90 * day}

// thinning cleans by keepRules, with only the newest checkpoint spared.
func thinning() CleanOptions {
	return CleanOptions{Retention: settings.Retention{Keep: keepRules, KeepLast: settings.NoLimit, MaxBytes: settings.NoLimit}, Thorough: true}
}

// at adds a checkpoint without a label to a line, as of a time before noon.
func (f *aged) at(ref string, ago time.Duration, content string) string {
	f.Helper()
	f.time = noon.Add(-ago)
	defer func() { f.time = noon }()
	s := statetest.NewState(f, f.Store, map[string]string{"a": content, "dir/b": content + "!"})
	if strings.HasPrefix(ref, history.RefSessions) {
		return statetest.AppendLine(f, f.Store, ref, s, nil).ID
	}
	return statetest.Append(f, f.Store, ref, s, history.StateLabel{}).ID
}

// wantThinned checks that the states of some checkpoints are gone, and that the others are whole.
func (f *aged) wantThinned(ids []string, gone ...int) {
	f.Helper()
	for i, id := range ids {
		_, err := f.Lookup(f.Context(), id)
		var why *history.ThinnedError
		switch {
		case !slices.Contains(gone, i):
			if err != nil {
				f.Errorf("checkpoint %d: %v", i, err)
				continue
			}
			if len(statetest.Contents(f, f.Store, id)) != 2 {
				f.Errorf("checkpoint %d has lost files", i)
			}
		case !errors.As(err, &why) || !errors.Is(err, state.ErrNotFound) || !errors.Is(err, history.ErrThinned):
			f.Errorf("checkpoint %d: %v, want it thinned", i, err)
		case why.ID != id || f.nearest(why.Nearest) != nil:
			f.Errorf("checkpoint %d: %v, and the nearest is no checkpoint", i, err)
		}
	}
}

func (f *aged) nearest(id string) error {
	_, err := f.Lookup(f.Context(), id)
	return err
}

const session = history.RefSessions + "s"

func TestThinKeepsTheNewestOfEachHourAndDay(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var ids []string
	for i, ago := range []time.Duration{
		10*day + 3*time.Hour, 10*day + 2*time.Hour, 9*day + time.Hour, // days
		3*day + 50*time.Minute, 3*day + 20*time.Minute, 2 * day, // hours: 11:10, 11:40, 12:00
		23 * time.Hour, 22 * time.Hour, time.Minute,
	} {
		ids = append(ids, f.at(session, ago, fmt.Sprint("content ", i)))
	}
	dry := thinning()
	dry.DryRun = true
	told := f.clean(dry)
	f.wantThinned(ids)
	got := f.clean(thinning())
	f.wantThinned(ids, 0, 3)
	if told.Thinned != 2 || got.Thinned != 2 || told.Freed <= 0 || got.Kept != 7 || got.Checkpoints != 0 {
		t.Errorf("a dry run says %+v, then went %+v", told, got)
	}
	var rules []string
	for _, k := range told.Keep {
		rules = append(rules, fmt.Sprint(k.Rule, " ", k.Checkpoints, " ", k.Thinned, " ", k.Bytes > 0))
	}
	if want := []string{"all 3 0 true", "hourly 2 1 true", "daily 2 1 true", "protected 0 0 false"}; !slices.Equal(rules, want) {
		t.Errorf("rules %q, want %q", rules, want)
	}
	again := f.clean(thinning())
	if again.Thinned != 0 || again.Checkpoints != 0 || again.Kept != 7 {
		t.Errorf("cleaned again: %+v", again)
	}
	f.wantThinned(ids, 0, 3)
}

// every takes n checkpoints of a session, the first one some time ago and the others in steps after it.
func (f *aged) every(n int, ago, step time.Duration) (ids []string) {
	f.Helper()
	for i := range n {
		ids = append(ids, f.at(session, ago-time.Duration(i)*step, fmt.Sprint(i)))
	}
	return ids
}

// The line goes on over thinned checkpoints, for all who read it, also in another process.
func TestThinnedLineGoesOn(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	ids := f.every(6, 3*day, time.Minute)
	ids = append(ids, f.at(session, 0, "now"))
	f.clean(thinning())
	f.wantThinned(ids, 0, 1, 2, 3, 4)
	f = f.reopened()
	var line, logged []string
	for e, err := range f.Line(t.Context(), ids[6]) {
		if err != nil {
			t.Fatal(err)
		}
		line = append(line, e.ID)
	}
	slices.Reverse(line)
	if !slices.Equal(line, ids) {
		t.Errorf("the line is %q, want %q", line, ids)
	}
	for c, err := range f.Checkpoints(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		logged = append(logged, fmt.Sprint(c.ID, " ", c.ThinnedBefore))
	}
	if want := []string{ids[6] + " 0", ids[5] + " 5"}; !slices.Equal(logged, want) {
		t.Errorf("the log is %q, want %q", logged, want)
	}
	tree, err := f.LineEvent(ids[2])
	if err != nil || tree.Thinned == nil || tree.Thinned.Nearest != ids[5] || tree.Thinned.Rule != settings.KeepHourly {
		t.Errorf("a thinned checkpoint: %+v, %v", tree, err)
	}
	if _, err := f.Lookup(t.Context(), tree.Hash); !errors.Is(err, history.ErrThinned) {
		t.Errorf("its tree: %v", err)
	}
	if _, err := f.Lookup(t.Context(), ids[2][:12]); !errors.Is(err, history.ErrThinned) {
		t.Errorf("the beginning of its id: %v", err)
	}
}

// A walk over thinned checkpoints reads each record a few times, however many of them follow each other.
// The test does not run beside others, because allocations are counted for the whole process.
func TestThinnedWalkIsLinear(t *testing.T) {
	walk := func(n int) float64 {
		f := newAged(t)
		tip := ""
		for i := range n {
			tip = f.at(session, 10*day-time.Duration(i)*time.Second, fmt.Sprint(i))
		}
		f.clean(thinning())
		f = f.reopened()
		return testing.AllocsPerRun(1, func() {
			seen := 0
			for _, err := range f.Line(t.Context(), tip) {
				if seen++; err != nil {
					t.Fatal(err)
				}
			}
			if seen != n {
				t.Fatalf("%d checkpoints, want %d", seen, n)
			}
		}) / float64(n)
	}
	if few, many := walk(20), walk(200); many > 1.5*few {
		t.Errorf("%.0f allocations a checkpoint of 20, %.0f of 200", few, many)
	}
}

func TestThinProtects(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	minutes := func(n int) time.Duration { return 3*day - time.Duration(n)*time.Minute }
	var ids []string
	for i := range 5 {
		ids = append(ids, f.at(session, minutes(i), fmt.Sprint(i)))
	}
	if err := f.Pin(t.Context(), ids[0], "good"); err != nil {
		t.Fatal(err)
	}
	f.operation(time.Hour, ids[1], ids[2])
	if err := f.NoteTest(t.Context(), history.TestResult{Checkpoint: ids[3], Command: []string{"true"}}); err != nil {
		t.Fatal(err)
	}
	ids = append(ids, f.at(session, minutes(5), "5"), f.at(session, minutes(6), "6"), f.at(session, 0, "now"))
	today := f.Today()
	f.time = noon.Add(-minutes(1))
	labelled := f.append(today, "labelled")
	f.time = noon
	ids = append(ids, f.at(today, minutes(1), "same"), f.at(today, minutes(2), "last"))
	f.clean(thinning())
	f.wantThinned(ids, 4, 5, 8)
	if !f.has(labelled) {
		t.Error("a checkpoint with a label was thinned")
	}
	if err := f.Unpin(t.Context(), "good"); err != nil {
		t.Fatal(err)
	}
	f.clean(thinning())
	f.wantThinned(ids, 0, 4, 5, 8)
}

func TestThinClocks(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var ids []string
	for i, ago := range []time.Duration{
		-2 * day,                                  // of the future: then the clock was set right
		5 * day, 5*day + 30*time.Hour, -time.Hour, // backwards, and to the future again
	} {
		ids = append(ids, f.at(session, ago, fmt.Sprint(i)))
	}
	f.clean(thinning())
	f.wantThinned(ids, 0, 1) // the place on the line counts: both are of the hour of the third
	f.time = noon.Add(-400 * day)
	f.clean(thinning())
	f.wantThinned(ids, 0, 1)
}

// The last rule goes on as long as the line lives, and the line lives as long as the last rule says.
func TestThinAndAge(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var old, alive []string
	for i := range 3 {
		alive = append(alive, f.at(session, 120*day-time.Duration(i)*time.Hour, fmt.Sprint("a", i)))
		old = append(old, f.at(session+"old", 91*day-time.Duration(i)*time.Minute, fmt.Sprint("b", i)))
	}
	alive = append(alive, f.at(session, 0, "now"), f.at(session+"2", 89*day, "c"))
	f.clean(thinning())
	f.wantThinned(alive, 0, 1)
	for _, id := range old {
		if _, err := f.Lookup(t.Context(), id); !errors.Is(err, state.ErrNotFound) || errors.Is(err, history.ErrThinned) {
			t.Errorf("a checkpoint of a line that died: %v", err)
		}
	}
}

// By count the oldest go first. Thinned ones do not count, and go with what they follow.
func TestThinAndCount(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var ids []string
	for i := range 4 {
		for j := range 3 {
			ids = append(ids, f.at(session, time.Duration(5-i)*day-time.Duration(j)*time.Minute, fmt.Sprint(i, j)))
		}
	}
	ids = append(ids, f.at(session, 0, "now"))
	f.clean(thinning())
	f.wantThinned(ids, 0, 1, 3, 4, 6, 7, 9, 10)
	opt := thinning()
	opt.MaxCount = 3
	got := f.clean(opt)
	if got.Checkpoints != 2 || got.Kept != 3 {
		t.Errorf("cleaned %+v", got)
	}
	f.wantThinned(ids[9:], 0, 1)
	for i, id := range ids[:6] {
		if _, err := f.Lookup(t.Context(), id); !errors.Is(err, state.ErrNotFound) || errors.Is(err, history.ErrThinned) {
			t.Errorf("checkpoint %d: %v", i, err)
		}
	}
	opt.MaxCount = 1
	f.clean(opt)
	if _, err := f.DB.Ref(thinned.Ref); err == nil {
		t.Error("nothing is thinned any more, and the list is there")
	}
	f.wantThinned(ids[12:])
}

// A line that has lost its oldest part is thinned from its new beginning on.
func TestThinAfterCount(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	ids := f.every(4, 10*day, time.Hour)
	ids = append(ids, f.at(session, 0, "now"))
	opt := CleanOptions{Retention: settings.Retention{MaxAge: 90 * day, MaxCount: 4, KeepLast: settings.NoLimit, MaxBytes: settings.NoLimit}, Thorough: true}
	if got := f.clean(opt); got.Checkpoints != 1 {
		t.Fatalf("%+v", got)
	}
	for range 3 {
		f.clean(thinning())
		f.wantThinned(ids[1:], 0, 1)
	}
}

// The newest checkpoint whose tests passed keeps its state: by its place on its line whatever the clock did,
// if the test passed since the survey, and if the results cannot be read.
func TestThinKeepsTheNewestGreen(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var ids []string
	for i, ago := range []time.Duration{-2 * day, 3 * day, 3*day - time.Minute, 3*day - 2*time.Minute, 0} {
		ids = append(ids, f.at(session, ago, fmt.Sprint(i)))
	}
	f.setRef(history.RefTests, ids[4]) // which is no list of results
	f.clean(thinning())
	f.wantThinned(ids)
	if err := f.DB.DropRef(history.RefTests); err != nil {
		t.Fatal(err)
	}
	f.passed(ids[0])
	f.passed(ids[1])
	s, v := f.look()
	f.passed(ids[2])
	f.carryOut(s, v)
	f.wantThinned(ids, 0)
	f.clean(thinning())
	f.wantThinned(ids, 0, 1)
}

func TestThinSettings(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	id := f.at(session, 3*day, "a")
	for _, k := range []settings.Keep{
		{All: -1, Hourly: day}, {Hourly: day}, {All: day}, {All: day, Hourly: time.Hour}, {All: day, Hourly: 3 * day, Daily: 2 * day}, {All: day, Daily: -1},
	} {
		if _, err := f.Clean(t.Context(), CleanOptions{Retention: settings.Retention{Keep: k}}); err == nil || !strings.Contains(err.Error(), "keep") {
			t.Errorf("%+v: %v", k, err)
		}
	}
	if !f.has(id) {
		t.Error("something was cleaned")
	}
}

// The daylight-saving changes of any place move nothing: hours and days are those of UTC.
func TestThinUTC(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("elsewhere", 11*3600+1800)
	rule, bucket := keepRules.Rule(8 * day)
	if rule != settings.KeepDaily || bucket != day {
		t.Fatal(rule, bucket)
	}
	a := time.Date(2026, 3, 29, 11, 40, 0, 0, zone) // 00:10 in UTC
	b := time.Date(2026, 3, 29, 11, 20, 0, 0, zone) // 23:50 of the day before
	f := newAged(t)
	ids := []string{f.at(session, noon.Sub(b), "b"), f.at(session, noon.Sub(a), "a"), f.at(session, 0, "now")}
	f.clean(thinning())
	f.wantThinned(ids)
}
