package retention

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
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

// The room that thinning makes is seen in objects, and a budget counts it.
func TestThinMakesRoom(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	for i := range 40 {
		f.at(session, 3*day-time.Duration(i)*time.Second, string(gittest.Noise(uint64(i), 20_000)))
	}
	last := f.at(session, 0, "now")
	before := f.stored()
	got := f.clean(thinning())
	if after := f.stored(); got.Thinned != 39 || after > before/2 || got.Freed < 39*20_000 {
		t.Errorf("%d objects became %d; %+v", before, after, got)
	}
	if _, err := f.Lookup(t.Context(), last); err != nil {
		t.Error(err)
	}
}

// stored counts the objects of the store.
func (f *aged) stored() int {
	f.Helper()
	ids := strings.Fields(gittest.NewOracle(f).In(f.DB.Dir(), "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	return len(ids)
}

// Any git logs, packs and clones a thinned store, and the list survives its garbage collection.
func TestThinnedStoreForGit(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	ids := f.every(30, 30*day, 6*time.Hour)
	f.clean(thinning())
	before := f.kept(ids)
	o := gittest.NewOracle(f)
	o.In(f.DB.Dir(), "gc", "--quiet", "--prune=now")
	f = f.reopened()
	f.sound()
	if after := f.kept(ids); !slices.Equal(before, after) || len(after) != 8 {
		t.Errorf("checkpoints %v became %v", before, after)
	}
	clone := t.TempDir()
	o.In(clone, "clone", "--quiet", "--mirror", "file://"+f.DB.Dir(), "c.git")
	o.Fsck(clone + "/c.git")
	for _, i := range before {
		o.In(clone+"/c.git", "rev-parse", "--verify", ids[i]+"^{tree}")
	}
	if got := f.clean(thinning()); got.Thinned != 0 {
		t.Errorf("thinned again: %+v", got)
	}
}

// kept lists the checkpoints whose states are there.
func (f *aged) kept(ids []string) (list []int) {
	for i, id := range ids {
		if f.has(id) {
			list = append(list, i)
		}
	}
	return list
}

// Decisions that the store has overtaken: what got a name since the survey stays, and a list that has
// changed is left alone.
func TestThinOvertaken(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	ids := f.every(4, 3*day, time.Minute)
	ids = append(ids, f.at(session, 0, "now"))
	s, v := f.look()
	late, lateVerdict := f.look()
	if err := f.Pin(t.Context(), ids[1], "good"); err != nil {
		t.Fatal(err)
	}
	f.setRef(history.RefSessions+"fork", ids[0])
	fork := f.at(history.RefSessions+"fork", 0, "on a fork")
	f.carryOut(s, v)
	f.wantThinned(append(ids, fork), 2)
	f.carryOut(late, lateVerdict)
	f.wantThinned(append(ids, fork), 2)
	f.clean(CleanOptions{Thorough: true})
	f.wantThinned(append(ids, fork), 2)
}

// look decides as a cleaning does without the lock.
func (f *aged) look() (*survey, *verdict) {
	f.Helper()
	s, err := NewSurvey(f.Context(), f.Store)
	if err == nil {
		err = s.thinOut(f.Context(), keepRules, noon)
	}
	if err != nil {
		f.Fatal(err)
	}
	v, err := s.judge(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	return s, v
}

// carryOut does what a cleaning does with the lock held.
func (f *aged) carryOut(s *survey, v *verdict) {
	f.Helper()
	err := f.Exclusive(f.Context(), func(l *history.Locked) (err error) {
		if v, err = f.overtaken(f.Context(), s, v); err != nil {
			return err
		}
		return f.carryOutVerdict(l, s, v)
	})
	if err != nil {
		f.Fatal(err)
	}
}

// passed notes that a test passed at a checkpoint.
func (f *aged) passed(id string) {
	f.Helper()
	if err := f.NoteTest(f.Context(), history.TestResult{Checkpoint: id, Command: []string{"true"}}); err != nil {
		f.Fatal(err)
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

// The hold of the lock in which the list moves writes no object: a capture waits for it.
func TestThinWritesBeforeTheLock(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	for i := range 9 {
		f.at(session, 3*day-time.Duration(i)*time.Minute, fmt.Sprint(i))
	}
	before := f.stored()
	s, v := f.look()
	if err := f.prepareThinned(t.Context(), s, v); err != nil {
		t.Fatal(err)
	}
	prepared := f.stored()
	f.carryOut(s, v)
	if after := f.stored(); prepared < before+8 || after != prepared {
		t.Errorf("%d objects, then %d, and %d after the list has moved", before, prepared, after)
	}
	late, lateVerdict := f.look()
	lateVerdict.thinned = 1 // as if there were something to thin
	f.clean(CleanOptions{Retention: settings.Retention{MaxCount: 1, KeepLast: settings.NoLimit, MaxBytes: settings.NoLimit}})
	if err := f.prepareThinned(t.Context(), late, lateVerdict); err != nil {
		t.Fatal(err)
	}
	f.sound()
}

// Checkpoints that come beside cleanings that thin are whole, and what was to be thinned is.
func TestThinBesideTracks(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	var old, fresh []string
	for i := range 10 {
		old = append(old, f.at(session, 3*day-time.Duration(i)*time.Minute, fmt.Sprint("old ", i)))
	}
	g := f.reopened()
	stop, ended := make(chan struct{}), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			if _, err := g.Clean(context.Background(), thinning()); err != nil && !errors.Is(err, ErrBusy) && !errors.Is(err, state.ErrLocked) {
				ended <- err
				return
			}
		}
	}()
	for i := range 30 {
		err := f.Exclusive(t.Context(), func(*history.Locked) error {
			fresh = append(fresh, f.at(session, time.Hour-time.Duration(i)*time.Second, fmt.Sprint("fresh ", i)))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	f.clean(thinning())
	f.wantThinned(append(fresh, old...), 30, 31, 32, 33, 34, 35, 36, 37, 38)
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

// Random histories: what stays is what the rules say, byte for byte; what does not says so; a second
// cleaning does nothing; and as time goes on the same holds.
func TestThinRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := &thinHistory{aged: newAged(t), rand: rand.New(rand.NewPCG(seed, 1)), states: make(map[string]map[string]string), when: make(map[string]time.Time)}
			h.grow(40)
			for range 3 {
				h.check()
				h.time = h.time.Add(time.Duration(h.rand.IntN(20*24)) * time.Hour)
				h.grow(8)
			}
		})
	}
}

// thinHistory is a random history with what it must hold.
type thinHistory struct {
	*aged
	rand   *rand.Rand
	lines  []string
	order  [][]string // ids by line, oldest first, without those of a fork's source
	states map[string]map[string]string
	when   map[string]time.Time
	held   []string // pinned
}

// grow adds checkpoints to lines of sessions up to the present.
func (h *thinHistory) grow(n int) {
	now := h.time
	for range n {
		line := h.rand.IntN(len(h.lines) + 1)
		if line == len(h.lines) {
			if line == 4 {
				continue
			}
			h.lines, h.order = append(h.lines, fmt.Sprint(history.RefSessions, "r", line)), append(h.order, nil)
		}
		if len(h.order[line]) == 0 {
			h.time = now.Add(-time.Duration(h.rand.IntN(60*24)) * time.Hour)
		} else {
			last := h.when[h.order[line][len(h.order[line])-1]]
			h.time = last.Add(time.Duration(h.rand.Int64N(int64(max(time.Second, now.Sub(last))))/int64(1+h.rand.IntN(40))) + time.Second)
		}
		files := map[string]string{"a": fmt.Sprint(h.rand.IntN(8)), "d/b": fmt.Sprint(h.rand.IntN(1000)), "d/e/c": string(gittest.Noise(h.rand.Uint64(), 200))}
		c := statetest.AppendLine(h, h.Store, h.lines[line], statetest.NewState(h, h.Store, files), nil)
		h.order[line], h.states[c.ID], h.when[c.ID] = append(h.order[line], c.ID), files, h.time
		if h.rand.IntN(8) == 0 {
			if err := h.Pin(h.Context(), c.ID, "pin"+c.ID[:8]); err != nil {
				h.Fatal(err)
			}
			h.held = append(h.held, c.ID)
		}
	}
	h.time = now
}

// stays tells by the words of the manual whether a checkpoint of a line keeps its state.
func (h *thinHistory) stays(line []string, i int) bool {
	at, age := h.when[line[i]], h.time.Sub(h.when[line[i]])
	if i == len(line)-1 || slices.Contains(h.held, line[i]) || age <= keepRules.All {
		return true
	}
	layout := "2006-01-02 15"
	if age > keepRules.Hourly {
		layout = "2006-01-02"
	}
	return h.when[line[i+1]].UTC().Format(layout) != at.UTC().Format(layout)
}

func (h *thinHistory) check() {
	h.Helper()
	gone := make(map[string]bool)
	for id := range h.states {
		gone[id] = !h.has(id)
	}
	h.clean(thinning())
	again := h.clean(thinning())
	if again.Thinned+again.Checkpoints != 0 {
		h.Errorf("a second cleaning did %+v", again)
	}
	var newest string
	for id := range h.states {
		if newest == "" || h.when[newest].Before(h.when[id]) {
			newest = id
		}
	}
	for n, line := range h.order {
		dead := h.time.Sub(h.when[line[len(line)-1]]) > keepRules.Daily && !slices.Contains(line, newest)
		for i, id := range line {
			_, err := h.Lookup(context.Background(), id)
			want := h.stays(line, i) && !gone[id] && (!dead || slices.Contains(h.held, id)) || id == newest
			switch {
			case want && err != nil:
				h.Errorf("line %d, checkpoint %d of %d: %v", n, i, len(line), err)
			case want:
				if got := statetest.Contents(h, h.Store, id); fmt.Sprint(got) != fmt.Sprint(h.states[id]) {
					h.Errorf("checkpoint %s: %v, want %v", id, got, h.states[id])
				}
			case !errors.Is(err, history.ErrThinned) && !dead:
				h.Errorf("line %d, checkpoint %d of %d: %v, want it thinned", n, i, len(line), err)
			}
		}
	}
}
