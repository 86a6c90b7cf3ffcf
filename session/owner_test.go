package session_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// killed is a process that was killed.
func killed(t *testing.T) session.Process {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	p, ok := session.ProcessOf(cmd.Process.Pid)
	cmd.Process.Kill()
	cmd.Wait()
	if !ok {
		t.Skip("processes cannot be seen here")
	}
	return p
}

// elsewhere is a process of another PID namespace and another boot, with the number of
// one that is not here.
func elsewhere(t *testing.T) session.Process {
	p := killed(t)
	p.Space, p.Boot = p.Space+" of a container", p.Boot+" of another"
	return p
}

// open begins a step for an owner.
func (f *fixture) open(id, message, step string, owner session.Owner, paths ...string) {
	f.Helper()
	b := session.StepBegin{Session: id, Message: message, Step: step, Role: session.RoleUser, Owner: &owner, Paths: paths}
	if _, err := f.BeginStep(background, b); err != nil {
		f.Fatal(err)
	}
}

func of(p session.Process) session.Owner { return session.Owner{Processes: []session.Process{p}} }

// TestV34_DeadStepIsNotInTheWay: a step whose agent was killed neither overlaps what
// later sessions do nor keeps its own session busy, and what the user wrote later
// stays when it is reverted.
func TestV34_DeadStepIsNotInTheWay(t *testing.T) {
	t.Parallel()
	for name, hint := range map[string]bool{"before a hint": false, "after a hint": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
			f.step("dead", "m1", "1", func() { f.write("first", "1\n") })
			f.open("dead", "m2", "2", of(killed(t)))
			if hint {
				f.write("by-agent", "1\n")
				if err := f.Hint(background, "dead", "2", []string{"named"}); !errors.Is(err, session.ErrNotFound) {
					t.Errorf("a hint for a dead step: %v", err)
				}
			}
			f.write("mine", "the user's\n")
			f.step("later", "m1", "1", func() { f.write("a", "2\n"); f.write("mine", "and the agent's\n") })
			_, res := f.revert("later", session.Target{Start: true})
			if len(res.Conflicts)+len(res.Kept) > 0 || f.read("a") != "1\n" || f.read("mine") != "the user's\n" {
				t.Errorf("a later session: %+v", res)
			}
			s := f.get("dead")
			if s.Open != "" {
				t.Errorf("open: %q", s.Open)
			}
			if s, res, err := f.UndoTurn(background, "dead", session.MoveOptions{}); err != nil || len(res.Conflicts)+len(res.Deleted) > 0 || s.Revert.Message != "m2" {
				t.Errorf("its own turn: %+v, %v", res, err)
			}
			if _, res, err := f.UndoTurn(background, "dead", session.MoveOptions{}); err != nil || len(res.Deleted) != 1 || f.read("mine") != "the user's\n" {
				t.Errorf("the turn before: %+v, %v", res, err)
			}
		})
	}
}

// TestV34_DeadStepEndsWithItsLastState: changes that were captured while the agent
// lived are the step's, later ones are not, and the next event of the session records
// that.
func TestV34_DeadStepEndsWithItsLastState(t *testing.T) {
	t.Parallel()
	goOn := map[string]func(f *fixture) error{
		"next step": func(f *fixture) error {
			_, err := f.BeginStep(background, session.StepBegin{Session: "s", Message: "m2", Step: "2"})
			return errors.Join(err, endOf(f, "2"))
		},
		"next message": func(f *fixture) error { return addMessage(f, "s") },
		"end":          func(f *fixture) error { return endOf(f, "1") },
		"nothing":      func(*fixture) error { return nil },
	}
	for name, next := range goOn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
			sleeper := exec.Command("sleep", "1000")
			if err := sleeper.Start(); err != nil {
				t.Skip(err)
			}
			agent, ok := session.ProcessOf(sleeper.Process.Pid)
			f.open("s", "m1", "1", of(agent))
			f.write("a", "2\n")
			f.write("made", "by the agent\n")
			err := f.Hint(background, "s", "1", []string{"b"})
			sleeper.Process.Kill()
			sleeper.Wait()
			if !ok {
				t.Skip("processes cannot be seen here")
			}
			if err != nil {
				t.Fatal(err)
			}
			f.write("b", "the user's\n")
			f.write("made", "by the agent\nand the user\n")
			if err := next(f); err != nil {
				t.Fatal(err)
			}
			list, err := f.History(background, "s")
			if err != nil || !list[0].Steps[0].Abandoned || len(list[0].Steps[0].Patch.Files) != 2 {
				t.Fatalf("%+v, %v", list, err)
			}
			_, res, err := f.Revert(background, "s", session.Target{Start: true}, session.MoveOptions{})
			if err != nil || f.read("a") != "1\n" || f.read("b") != "the user's\n" {
				t.Errorf("a %q, b %q, %+v, %v", f.read("a"), f.read("b"), res, err)
			}
			if f.read("made") != "by the agent\nand the user\n" || len(res.Conflicts) != 1 {
				t.Errorf("made %q, %+v", f.read("made"), res)
			}
		})
	}
}

func endOf(f *fixture, step string) error {
	_, err := f.EndStep(background, session.StepEnd{Session: "s", Step: step})
	return err
}

// TestV34_ALivingOwnerStays: however long it takes, and however long the laptop slept.
func TestV34_ALivingOwnerStays(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	clocks := clocksOf(f)
	f.begin("living", "m1", "1")
	clocks.wall, clocks.awake = clocks.wall.Add(100*time.Hour), clocks.awake+50*time.Hour
	f.step("later", "m1", "1", func() { f.write("a", "2\n") })
	_, res := f.revert("later", session.Target{Start: true})
	if len(res.Conflicts) != 1 || res.Conflicts[0].Reason != "also changed during a step of session living" {
		t.Errorf("%+v", res)
	}
	if _, _, err := f.UndoTurn(background, "living", session.MoveOptions{}); !errors.Is(err, session.ErrBusy) {
		t.Error(err)
	}
}

// clocks are those of a fixture's sessions.
type clocks struct {
	wall  time.Time
	awake time.Duration
}

func clocksOf(f *fixture) *clocks {
	c := &clocks{time.Now(), time.Hour}
	session.SetClocks(f.Sessions, func() time.Time { return c.wall }, func() time.Duration { return c.awake })
	return c
}

// TestV34_Lease: a host that cannot be watched has its lease, which its events renew
// and which does not run while the machine sleeps.
func TestV34_Lease(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		owner       session.Owner
		wall, awake time.Duration // that pass
		renewed     bool          // at half the time
		open        bool
	}{
		{"in time", session.Owner{Lease: time.Minute}, 59 * time.Second, 59 * time.Second, false, true},
		{"out of time", session.Owner{Lease: time.Minute}, 61 * time.Second, 61 * time.Second, false, false},
		{"renewed", session.Owner{Lease: time.Minute}, 61 * time.Second, 61 * time.Second, true, true},
		{"slept", session.Owner{Lease: time.Minute}, 8 * time.Hour, time.Second, false, true},
		{"clock set forward", session.Owner{}, 365 * 24 * time.Hour, time.Second, false, true},
		{"clock set back", session.Owner{Lease: time.Minute}, -365 * 24 * time.Hour, time.Second, false, true},
		{"clock set back, out of time", session.Owner{Lease: time.Minute}, -time.Hour, time.Hour, false, false},
		{"by default", session.Owner{}, 59 * time.Minute, 59 * time.Minute, false, true},
		{"by default, out of time", session.Owner{}, 61 * time.Minute, 61 * time.Minute, false, false},
		{"in a container, in time", of(elsewhere(t)), 59 * time.Minute, 59 * time.Minute, false, true},
		{"in a container, out of time", of(elsewhere(t)), 61 * time.Minute, 61 * time.Minute, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
			clocks := clocksOf(f)
			f.open("host", "m1", "1", c.owner)
			for range 2 {
				clocks.wall, clocks.awake = clocks.wall.Add(c.wall/2), clocks.awake+c.awake/2
				if !c.renewed {
					continue
				}
				c.renewed = false
				if err := f.Hint(background, "host", "1", nil); err != nil {
					t.Fatal(err)
				}
			}
			if open := f.get("host").Open == "1"; open != c.open {
				t.Fatalf("open: %v", open)
			}
			list, err := f.OpenSteps(background)
			if err != nil || len(list) != 1 || list[0].Gone == c.open || list[0].Unseen != c.open {
				t.Errorf("%+v, %v", list, err)
			}
			if c.wall < 0 {
				return // what overlaps goes by the calendar
			}
			f.step("later", "m1", "1", func() { f.write("a", "2\n") })
			_, res := f.revert("later", session.Target{Start: true})
			if conflict := len(res.Conflicts) == 1; conflict != c.open {
				t.Fatalf("%+v", res)
			}
			if c.open && !strings.Contains(res.Conflicts[0].Reason, "cairn session step end host --gone") {
				t.Errorf("no way out in %q", res.Conflicts[0].Reason)
			}
		})
	}
}

// TestV34_AnotherBoot: of a host that was served before the machine was restarted only
// the calendar tells.
func TestV34_AnotherBoot(t *testing.T) {
	t.Parallel()
	for past, open := range map[time.Duration]bool{59 * time.Minute: true, 2 * time.Hour: false, -2 * time.Hour: false} {
		f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
		now := time.Now()
		f.open("host", "m1", "1", session.Owner{}) // in the boot of this machine
		session.SetClocks(f.Sessions, func() time.Time { return now.Add(past) }, func() time.Duration { return 0 })
		if got := f.get("host").Open == "1"; got != open {
			t.Errorf("%v later open: %v", past, got)
		}
	}
}

// TestV34_TheHostIsThereAfterAll: an end that comes after the lease ends the step with
// the state of now, as if the lease had not run out.
func TestV34_TheHostIsThereAfterAll(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	clocks := clocksOf(f)
	f.open("host", "m1", "1", session.Owner{Lease: time.Minute})
	f.write("a", "2\n")
	clocks.awake += time.Hour
	if s := f.get("host"); s.Open != "" {
		t.Fatalf("%+v", s)
	}
	if st := f.end("host", "1"); st.Abandoned || len(st.Patch.Files) != 1 {
		t.Errorf("%+v", st)
	}
	if f.revert("host", session.Target{Start: true}); f.read("a") != "1\n" {
		t.Errorf("a %q", f.read("a"))
	}
}

// TestV34_TheUserSaysSo: a step with an unobservable owner is ended with its own known changes when
// the user declares the owner gone; until then the error names this way out.
func TestV34_TheUserSaysSo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.open("far away", "m1", "1", of(elsewhere(t)))
	f.write("mine", "m\n")
	_, _, err := f.UndoTurn(background, "far away", session.MoveOptions{})
	if !errors.Is(err, session.ErrBusy) || !strings.Contains(err.Error(), "cairn session step end 'far away' --gone") {
		t.Error(err)
	}
	st, err := f.EndStep(background, session.StepEnd{Session: "far away", Gone: true})
	if err != nil || !st.Abandoned || len(st.Patch.Files) != 0 {
		t.Fatalf("%+v, %v", st, err)
	}
	f.revert("far away", session.Target{Start: true})
	if f.read("mine") != "m\n" {
		t.Error("the user's file is gone")
	}
}

// TestV34_OneOfTwoOwners: a step that a second process shares runs as long as one of
// both lives.
func TestV34_OneOfTwoOwners(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.begin("s", "m1", "1")
	if err := f.ShareStep(background, "s", "1", of(killed(t))); err != nil {
		t.Fatal(err)
	}
	if f.reopen(); f.get("s").Open != "1" {
		t.Error("not open")
	}
	if err := f.ShareStep(background, "s", "2", of(killed(t))); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
}

// TestV41_WhatGoesOnAfterAForcedEnd: a tool that was at work when its session was taken
// back is told to have ended later; what it wrote in between is a step.
func TestV41_WhatGoesOnAfterAForcedEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.begin("s", "m1", "1")
	f.write("a", "2\n")
	if _, _, err := f.UndoTurn(background, "s", session.MoveOptions{EndOpen: true}); err != nil || f.read("a") != "1\n" {
		t.Fatal(err)
	}
	f.write("a", "3\n")
	f.write("b", "late\n")
	st := f.end("s", "1")
	if st.ID == "1" || len(st.Patch.Files) != 2 || st.Message != "m1" {
		t.Fatalf("%+v", st)
	}
	if again := f.end("s", "1+late"); again.ID != st.ID {
		t.Errorf("%+v", again)
	}
	if _, res, err := f.UndoTurn(background, "s", session.MoveOptions{}); err != nil || f.read("a") != "1\n" || f.read("b") != "(absent)" {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestV41_NothingGoesOnAfterAForcedEnd: the usual case, after which redo still works.
func TestV41_NothingGoesOnAfterAForcedEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.begin("s", "m1", "1")
	f.write("a", "2\n")
	if _, _, err := f.UndoTurn(background, "s", session.MoveOptions{EndOpen: true}); err != nil {
		t.Fatal(err)
	}
	if st := f.end("s", "1"); st.ID != "1" {
		t.Fatalf("%+v", st)
	}
	if _, _, err := f.RedoTurn(background, "s", session.MoveOptions{}); err != nil || f.read("a") != "2\n" {
		t.Error(f.read("a"), err)
	}
}
