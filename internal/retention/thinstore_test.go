package retention

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

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
