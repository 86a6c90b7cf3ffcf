package session_test

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestThroughHook: every method of a Service is one call of the hook, and returns the
// error that the hook returns.
func TestThroughHook(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	var asked []session.Request
	s := session.Through(func(_ context.Context, r session.Request, _ session.Next) (any, error) {
		asked = append(asked, r)
		return nil, refused
	})
	service := reflect.TypeFor[session.Service]()
	kinds := make(map[session.RequestKind]bool)
	for i := range service.NumMethod() {
		method := reflect.ValueOf(s).MethodByName(service.Method(i).Name)
		in := []reflect.Value{reflect.ValueOf(t.Context())}
		for j := 1; j < method.Type().NumIn(); j++ {
			in = append(in, reflect.Zero(method.Type().In(j)))
		}
		asked = nil
		out := method.Call(in)
		last := out[len(out)-1].Interface()
		if diffs, ok := last.(iter.Seq2[*cairn.FileDiff, error]); ok {
			for _, err := range diffs {
				last = err
			}
		}
		if last != refused || len(asked) != 1 {
			t.Errorf("%s returns %v after %d calls of the hook", service.Method(i).Name, last, len(asked))
			continue
		}
		kinds[asked[0].Kind] = true
	}
	if len(kinds) != 11 {
		t.Errorf("there are calls of %d kinds: %v", len(kinds), kinds)
	}
}

// TestThroughNext: a hook sees what a call is about and its outcome; the caller gets the
// outcome.
func TestThroughNext(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{})
	var seen []session.Request
	var outcomes []any
	s := session.Through(func(ctx context.Context, r session.Request, next session.Next) (any, error) {
		out, err := next(ctx, f.Sessions)
		seen, outcomes = append(seen, r), append(outcomes, out)
		return out, err
	})
	ctx := t.Context()
	begun, err := s.Begin(ctx, session.SessionBegin{ID: "s", Title: "T"})
	if err != nil || begun.Title != "T" || outcomes[0] != any(begun) || !reflect.DeepEqual(seen[0].In, session.SessionBegin{ID: "s", Title: "T"}) {
		t.Errorf("%+v, %v, seen %+v", begun, err, seen)
	}
	if _, err := s.BeginStep(ctx, session.StepBegin{Session: "s", Message: "m", Role: session.RoleUser, Step: "1"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Hint(ctx, "s", "1", []string{"a"}); err != nil || !reflect.DeepEqual(seen[2].In, session.StepHint{Session: "s", Step: "1", Paths: []string{"a"}}) {
		t.Errorf("%v, seen %+v", err, seen[2])
	}
	f.write("a", "1\n")
	if st, err := s.EndStep(ctx, session.StepEnd{Session: "s", Step: "1"}); err != nil || len(st.Patch.Files) != 1 {
		t.Errorf("%+v, %v", st, err)
	}
	for d, err := range s.Diff(ctx, "s", session.Scope{}) {
		if err != nil || d.File != "a" {
			t.Errorf("%+v, %v", d, err)
		}
	}
	_, res, err := s.Revert(ctx, "s", session.Target{Message: "m"}, session.MoveOptions{DryRun: true})
	last := seen[len(seen)-1]
	if err != nil || len(res.Deleted) != 1 || last.Kind != session.RequestMove || last.Session != "s" || !last.DryRun || outcomes[len(outcomes)-1].(session.Move).Result != res {
		t.Errorf("%+v, %v, seen %+v", res, err, last)
	}
	if err := s.Delete(ctx, "s"); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(ctx, "s"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("a deleted session: %v", err)
	}
}
