package session_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/session"
)

// occupy keeps the store of a fixture locked until release is called.
func (f *fixture) occupy() (release func()) {
	f.Helper()
	repo, err := cairn.Open(cairn.Options{Root: f.root, DataDir: f.data, NoSync: true})
	if err != nil {
		f.Fatal(err)
	}
	held, let, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- access.Lines(repo).Update(background, func(*operation.LineUpdate) error {
			close(held)
			<-let
			return nil
		})
	}()
	<-held
	return sync.OnceFunc(func() {
		close(let)
		if err := errors.Join(<-done, repo.Close()); err != nil {
			f.Error(err)
		}
	})
}

// TestBeginStepAsync: the agent's thread goes on although the store is taken, and what
// tools write that wait for the gate is never part of the state before.
func TestBeginStepAsync(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.begin("s", "m", "0")
	f.end("s", "0")
	for n := range 5 {
		release := f.occupy()
		id := fmt.Sprint("step ", n)
		b, err := f.BeginStepAsync(background, session.StepBegin{Session: "s", Message: "m", Step: id})
		if err != nil {
			t.Fatal(err)
		}
		// Here the agent waits for its model. Nothing has begun: the store is not free.
		select {
		case <-b.Done():
			t.Fatal("the step has begun without the store")
		default:
		}
		var tools sync.WaitGroup
		failures := make([]error, 4)
		for i := range failures {
			tools.Go(func() {
				st, err := b.Wait(background)
				if err != nil || st.ID != id || !st.Open() {
					failures[i] = fmt.Errorf("%+v, %w", st, err)
				}
				f.write(fmt.Sprintf("made-%d-%d", n, i), "x\n")
			})
		}
		release()
		tools.Wait()
		if err := errors.Join(failures...); err != nil {
			t.Fatal(err)
		}
		if st := f.end("s", id); len(st.Patch.Files) != len(failures) {
			t.Errorf("the step has changed %q", st.Patch.Files)
		}
	}
}

// TestBeginStepAsyncGates: whatever else changes the session waits without being told
// to, in the order of the calls.
func TestBeginStepAsyncGates(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(*fixture) error{
		"EndStep": func(f *fixture) error {
			_, err := f.EndStep(background, session.StepEnd{Session: "s", Step: "2"})
			return err
		},
		"Hint":       func(f *fixture) error { return f.Hint(background, "s", "2", []string{"a"}) },
		"AddMessage": func(f *fixture) error { return addMessage(f, "later") },
		"BeginStep": func(f *fixture) error {
			_, err := f.BeginStep(background, session.StepBegin{Session: "s", Step: "3"})
			return err
		},
		"BeginStepAsync": func(f *fixture) error {
			b, err := f.BeginStepAsync(background, session.StepBegin{Session: "s", Step: "3"})
			if err == nil {
				_, err = b.Wait(background)
			}
			return err
		},
		"Revert": func(f *fixture) error {
			_, _, err := f.Revert(background, "s", session.Target{Message: "m"}, session.MoveOptions{EndOpen: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
			release := f.occupy()
			defer release()
			if _, err := f.BeginStepAsync(background, session.StepBegin{Session: "s", Message: "m", Step: "2"}); err != nil {
				t.Fatal(err)
			}
			limited, cancel := context.WithCancel(background)
			cancel()
			if _, err := f.EndStep(limited, session.StepEnd{Session: "s", Step: "2"}); !errors.Is(err, context.Canceled) {
				t.Errorf("whoever gives up gets %v", err)
			}
			done := make(chan error, 1)
			go func() { done <- call(f) }()
			release()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			list, err := f.History(background, "s")
			if err != nil || len(list) == 0 || len(list[0].Steps) == 0 || list[0].Steps[0].ID != "2" {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}

// TestBeginStepAsyncChain: what waits for the second of two steps does not come between
// them.
func TestBeginStepAsyncChain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.begin("s", "m", "0")
	for n := range 10 {
		release := f.occupy()
		first, second := fmt.Sprint(n, " first"), fmt.Sprint(n, " second")
		for _, id := range []string{first, second} {
			if _, err := f.BeginStepAsync(background, session.StepBegin{Session: "s", Step: id}); err != nil {
				t.Fatal(err)
			}
		}
		done := make(chan error, 1)
		go func() {
			_, err := f.EndStep(background, session.StepEnd{Session: "s", Step: second})
			done <- err
		}()
		release()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

func addMessage(f *fixture, id string) error {
	_, err := f.AddMessage(background, session.MessageBegin{Session: "s", Message: id})
	return err
}

// TestBeginStepAsyncFails: an id that cannot be used is reported at once, any other error by Wait
// and by a look-up of the step; the next beginning starts afresh.
func TestBeginStepAsyncFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	if _, err := f.BeginStepAsync(background, session.StepBegin{}); !errors.Is(err, session.ErrID) {
		t.Errorf("%v", err)
	}
	f.begin("s", "m", "1")
	f.end("s", "1")
	release := f.occupy()
	defer release()
	ctx, cancel := context.WithCancel(background)
	b, err := f.BeginStepAsync(ctx, session.StepBegin{Session: "s", Step: "2"})
	if err != nil {
		t.Fatal(err)
	}
	gone, stop := context.WithCancel(background)
	stop()
	if _, err := b.Wait(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that is over gives %v", err)
	}
	cancel()
	if _, err := b.Wait(background); !errors.Is(err, context.Canceled) {
		t.Errorf("the beginning that was given up: %v", err)
	}
	release()
	if _, err := f.EndStep(background, session.StepEnd{Session: "s", Step: "2"}); !errors.Is(err, session.ErrNotFound) || !errors.Is(err, context.Canceled) {
		t.Errorf("the end of a step that never began: %v", err)
	}
	f.begin("s", "m", "3")
	if err := f.Hint(background, "s", "2", []string{"a"}); !errors.Is(err, session.ErrNotFound) || errors.Is(err, context.Canceled) {
		t.Errorf("a hint after another step has begun: %v", err)
	}
	f.end("s", "3")
}
