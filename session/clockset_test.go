package session_test

import (
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/lastdone"
	"github.com/seed-fb9cbc17/cairn/session"
)

// did says what an undo takes first.
func did(f *fixture) string {
	f.Helper()
	list, err := (&lastdone.Finder{Repo: f.repo, Sessions: f.Sessions}).Undo(background, lastdone.Want{})
	if err != nil || len(list) == 0 {
		f.Fatalf("%+v, %v", list, err)
	}
	if list[0].Turn != nil {
		return "turn of " + list[0].Session.ID
	}
	return list[0].Operation.Kind
}

// TestUndoAfterTheClockWasSetBack: turns and operations of the time in which the clock was ahead do not stay the newest.
func TestUndoAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n")})
	clocks := clocksOf(f)
	at := func(ahead time.Duration) {
		clocks.wall, clocks.awake = time.Now().Add(ahead), clocks.awake+time.Millisecond
		access.SetClock(f.repo, func() time.Time { return time.Now().Add(ahead) })
	}
	at(time.Hour)
	f.step("early", "m1", "1", func() { f.write("a", "2\n") })
	at(0)
	f.step("late", "m1", "1", func() { f.write("a", "3\n") })
	if got := did(f); got != "turn of late" {
		t.Errorf("an undo takes the %s", got)
	}
	if id, err := f.Find(background, session.Newest); id != "late" || err != nil {
		t.Errorf("the newest session is %q, %v", id, err)
	}
	at(0)
	f.write("b", "2\n")
	if _, err := f.repo.Restore(background, "@", cairn.RestoreOptions{Paths: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	if got := did(f); got != "restore" {
		t.Errorf("an undo takes the %s", got)
	}
	at(0)
	f.step("early", "m2", "2", func() { f.write("a", "4\n") })
	if got := did(f); got != "turn of early" {
		t.Errorf("an undo takes the %s", got)
	}
	if s := f.get("early"); s.Updated.After(clocks.wall) || s.Created.After(s.Updated) {
		t.Errorf("created %v, updated %v, now %v", s.Created, s.Updated, clocks.wall)
	}
	at(time.Hour)
	f.write("b", "3\n")
	if _, err := f.repo.Restore(background, "@", cairn.RestoreOptions{Paths: []string{"b"}}); err != nil {
		t.Fatal(err)
	}
	at(0)
	f.step("late", "m2", "2", func() { f.write("a", "5\n") })
	if got := did(f); got != "turn of late" {
		t.Errorf("an undo takes the %s", got)
	}
}
