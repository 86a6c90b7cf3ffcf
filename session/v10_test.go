package session_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
	"github.com/seed-fb9cbc17/cairn/session"
)

const rollBudget = 600 << 10

// newRoller is a root whose store is at its budget after a few steps.
func newRoller(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, root: t.TempDir(), data: t.TempDir()}
	gittest.Create(t, f.root, gittest.Tree{"a": gittest.File("0")})
	f.roll()
	return f
}

// roll reopens the store with its budget.
func (f *fixture) roll() {
	f.Helper()
	r, err := cairn.Open(cairn.Options{Root: f.root, DataDir: f.data, NoSync: true,
		Retention: &cairn.Retention{KeepLast: 3, MaxBytes: rollBudget, MinFree: cairn.NoLimit}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { r.Close() })
	f.repo, f.Sessions = r, session.New(r)
}

// noise is text that does not compress.
func noise(seed, size int) string { return string(gittest.Noise(uint64(seed), size)) }

func (f *fixture) sound() {
	f.Helper()
	o := gittest.NewOracle(f)
	o.In(f.repo.StoreDir(), "fsck", "--strict", "--full", "--no-dangling")
	o.In(f.repo.StoreDir(), "log", "--all", "--oneline")
	if found, err := f.repo.Check(background, cairn.CheckOptions{}); err != nil || len(found) > 0 {
		f.Errorf("doctor: %+v, %v", found, err)
	}
	if size, err := retention.SizeOf(f.repo.StoreDir()); err != nil || size > rollBudget {
		f.Errorf("%d bytes of %d, %v", size, int64(rollBudget), err)
	}
}

// work is so many steps of a session, each in a turn of its own.
func (f *fixture) work(id string, from, to int) {
	f.Helper()
	for i := from; i < to; i++ {
		f.step(id, fmt.Sprintf("m%d", i), fmt.Sprintf("s%d", i), func() { f.write("a", noise(i+1, 50<<10)) })
	}
}

// TestV10_ALongSessionRolls: the beginning of one long session goes, and what is left can
// be listed, shown, diffed, reverted, brought back and forked. Each answer says so.
func TestV10_ALongSessionRolls(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for name, stays := range map[string]bool{"open": true, "fresh": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newRoller(t)
			const steps = 30
			for i := range steps {
				if !stays {
					f.roll()
				}
				f.work("long", i, i+1)
			}
			f.sound()
			list, err := f.List(background)
			if err != nil || len(list) != 1 || !list[0].Truncated {
				t.Fatalf("listed %+v, %v", list, err)
			}
			s, err := f.Get(background, "long")
			if err != nil || !s.Truncated || s.Steps >= steps || s.Steps < 4 || s.Summary.Files != 1 {
				t.Fatalf("session %+v, %v", s, err)
			}
			if list[0].Steps != s.Steps || list[0].Messages != s.Messages {
				t.Errorf("%d steps are listed, %d shown", list[0].Steps, s.Steps)
			}
			history, err := f.History(background, "long")
			if err != nil || len(history) != s.Messages {
				t.Fatalf("history of %d messages, %v", len(history), err)
			}
			first := steps - s.Steps
			if got := history[0].ID; got != fmt.Sprintf("m%d", first) {
				t.Errorf("the history begins with %s", got)
			}
			if list, err := f.Changes(background, "long", session.Scope{}); err != nil || len(list) != 1 {
				t.Errorf("changes %+v, %v", list, err)
			}
			s, _ = f.revert("long", session.Target{Start: true})
			if want := noise(first, 50<<10); !s.Truncated || f.read("a") != want {
				t.Errorf("reverted as far as it goes: truncated %v, right %v", s.Truncated, f.read("a") == want)
			}
			if _, _, err := f.Revert(background, "long", session.Target{Message: "m0"}, session.MoveOptions{}); !errors.Is(err, session.ErrExpired) {
				t.Errorf("revert to what has gone: %v", err)
			}
			if s, _ := f.unrevert("long"); !s.Truncated || f.read("a") != noise(steps, 50<<10) {
				t.Error("not brought back")
			}
			fork, err := f.Fork(background, "long", fmt.Sprintf("m%d", steps-2), "fork")
			if err != nil || !fork.Truncated {
				t.Fatalf("fork %+v, %v", fork, err)
			}
			if _, err := f.Fork(background, "long", "m0", "other"); !errors.Is(err, session.ErrExpired) {
				t.Errorf("fork of what has gone: %v", err)
			}
			f.work("long", steps, steps+20)
			f.sound()
			if list, err := f.List(background); err != nil || len(list) == 0 {
				t.Errorf("listed %+v, %v", list, err)
			}
		})
	}
}

// TestV10_ARevertedSessionRolls: another session goes on while one is reverted, until the
// state before the revert has gone, too.
func TestV10_ARevertedSessionRolls(t *testing.T) {
	t.Parallel()
	f := newRoller(t)
	f.work("first", 0, 4)
	f.revert("first", session.Target{Message: "m2"})
	f.revert("first", session.Target{Message: "m1"})
	for i := range 12 {
		f.work("second", 10+i, 11+i)
		if _, err := f.List(background); err != nil {
			t.Fatalf("list after %d steps: %v", i, err)
		}
		s, err := f.Get(background, "first")
		if errors.Is(err, session.ErrNotFound) {
			break
		}
		if err != nil {
			t.Fatalf("session after %d steps: %v", i, err)
		}
		if _, err := f.History(background, "first"); err != nil {
			t.Fatalf("history after %d steps of %+v: %v", i, s, err)
		}
	}
	f.sound()
}

// TestV10_ManySessionsRoll: the oldest sessions go as wholes.
func TestV10_ManySessionsRoll(t *testing.T) {
	t.Parallel()
	f := newRoller(t)
	const sessions = 16
	for i := range sessions {
		f.work(fmt.Sprintf("session-%d", i), i, i+1)
	}
	f.sound()
	list, err := f.List(background)
	if err != nil || len(list) < 4 || len(list) == sessions {
		t.Fatalf("%d sessions are left, %v", len(list), err)
	}
	for i, s := range list {
		if want := fmt.Sprintf("session-%d", sessions-1-i); s.ID != want {
			t.Errorf("session %s is left, not %s", s.ID, want)
		}
	}
	last := list[0].ID
	if f.revert(last, session.Target{Start: true}); f.read("a") != noise(sessions-1, 50<<10) {
		t.Error("the newest session cannot be reverted")
	}
}

// TestV10_AnOpenStepOutlivesItsBeginning: it is ended with what is left of it.
func TestV10_AnOpenStepOutlivesItsBeginning(t *testing.T) {
	t.Parallel()
	f := newRoller(t)
	f.begin("long", "turn", "step")
	for i := range 30 {
		f.write("a", noise(i+1, 50<<10))
		if err := f.Hint(background, "long", "", []string{fmt.Sprintf("named-%d", i)}); err != nil {
			t.Fatalf("hint %d: %v", i, err)
		}
	}
	f.write("a", "the end")
	st := f.end("long", "step")
	if st.Message != "turn" || st.Open() {
		t.Errorf("ended %+v", st)
	}
	s, _ := f.revert("long", session.Target{Message: "turn"})
	if !s.Truncated || f.read("a") == "the end" {
		t.Errorf("reverted %+v", s)
	}
	f.sound()
}

// TestV17_TheNewestSessionsOfASecondStay: sessions that end within one second go in their
// order.
func TestV17_TheNewestSessionsOfASecondStay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("0")})
	names := []string{"c", "a", "d", "b", "f", "e"}
	for i, id := range names {
		f.step(id, "m", "s", func() { f.write("a", fmt.Sprint(i)) })
	}
	if _, err := f.repo.Clean(background, cairn.CleanOptions{Retention: cairn.Retention{KeepLast: cairn.NoLimit, MaxCount: 6}}); err != nil {
		t.Fatal(err)
	}
	list, err := f.List(background)
	if err != nil || len(list) == 0 || len(list) == len(names) {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	for i, s := range list {
		if want := names[len(names)-1-i]; s.ID != want {
			t.Errorf("session %s is left, not %s", s.ID, want)
		}
	}
}
