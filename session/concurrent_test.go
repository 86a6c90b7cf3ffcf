package session_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestConcurrentSessions: several agents record and revert at once, through one Sessions and
// through others on the same store; no work is lost.
func TestConcurrentSessions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"base": gittest.File("b\n")})
	other, err := cairn.Open(cairn.Options{Root: f.root, DataDir: f.data, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	all := []*session.Sessions{f.Sessions, session.New(other)}
	var wg sync.WaitGroup
	for n := range 6 {
		wg.Go(func() {
			if err := agent(f, all[n%2], fmt.Sprint("agent", n)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := f.List(background)
	if err != nil || len(list) != 6 {
		t.Fatalf("%d sessions, %v", len(list), err)
	}
	for _, s := range list {
		if f.read(s.ID+"/0") != "0\n" || f.read(s.ID+"/1") != "(absent)" || s.Revert == nil || s.Messages != 1 {
			t.Errorf("%s: %q, %q, %+v", s.ID, f.read(s.ID+"/0"), f.read(s.ID+"/1"), s)
		}
	}
	gittest.NewOracle(t).Fsck(f.repo.StoreDir())
}

// agent makes two steps and reverts the second.
func agent(f *fixture, s *session.Sessions, id string) error {
	for i := range 2 {
		m := fmt.Sprint("m", i)
		if _, err := s.BeginStep(background, session.StepBegin{Session: id, Message: m, Step: m, Paths: []string{id}}); err != nil {
			return err
		}
		f.write(fmt.Sprint(id, "/", i), fmt.Sprint(i, "\n"))
		if _, err := s.EndStep(background, session.StepEnd{Session: id}); err != nil {
			return err
		}
	}
	if _, err := s.History(background, id); err != nil {
		return err
	}
	got, res, err := s.Revert(background, id, session.Target{Message: "m1"}, session.MoveOptions{})
	if err == nil && (got.Revert == nil || len(res.Deleted) == 0 || len(res.Conflicts) > 0) {
		err = fmt.Errorf("%s: %+v, %+v", id, got, res)
	}
	return err
}

// TestR120_TwoRevertsAtOnce: they are done one after the other, and a running step
// holds them up.
func TestR120_TwoRevertsAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.step("s", "m1", "1", func() { f.write("a", "2\n") })
	f.step("s", "m2", "2", func() { f.write("a", "3\n") })
	var wg sync.WaitGroup
	for _, m := range []string{"m1", "m2", "m1", "m2"} {
		wg.Go(func() {
			if _, _, err := f.Revert(background, "s", session.Target{Message: m}, session.MoveOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := f.get("s")
	if want := map[string]string{"m1": "1\n", "m2": "2\n"}[s.Revert.Message]; f.read("a") != want {
		t.Errorf("at %s a is %q", s.Revert.Message, f.read("a"))
	}
	f.unrevert("s")
	if f.read("a") != "3\n" {
		t.Errorf("a is %q", f.read("a"))
	}
	f.begin("s", "m3", "3")
	for _, move := range []func() error{
		func() error {
			_, _, err := f.Revert(background, "s", session.Target{Message: "m1"}, session.MoveOptions{})
			return err
		},
		func() error { _, _, err := f.Unrevert(background, "s", session.MoveOptions{}); return err },
		func() error { _, _, err := f.UndoTurn(background, "s", session.MoveOptions{}); return err },
	} {
		if err := move(); !errors.Is(err, session.ErrBusy) {
			t.Errorf("%v", err)
		}
	}
}
