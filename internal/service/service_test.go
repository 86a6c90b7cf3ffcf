package service_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/service"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestThroughHook: every method of Sessions is one call of the hook, and returns the
// error that the hook returns.
func TestThroughHook(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	var asked []service.Request
	s := service.Through(func(_ context.Context, r service.Request, _ service.Next) (any, error) {
		asked = append(asked, r)
		return nil, refused
	})
	methods := reflect.TypeFor[service.Sessions]()
	kinds := make(map[service.RequestKind]bool)
	for i := range methods.NumMethod() {
		method := reflect.ValueOf(s).MethodByName(methods.Method(i).Name)
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
			t.Errorf("%s returns %v after %d calls of the hook", methods.Method(i).Name, last, len(asked))
			continue
		}
		kinds[asked[0].Kind] = true
	}
	if len(kinds) != 13 {
		t.Errorf("there are calls of %d kinds: %v", len(kinds), kinds)
	}
}

// TestThroughNext: a hook sees what a call is about and its outcome; the caller gets the
// outcome.
func TestThroughNext(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	repo, err := cairn.Open(cairn.Options{Root: root, DataDir: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	all := session.New(repo)
	var seen []service.Request
	var outcomes []any
	s := service.Through(func(ctx context.Context, r service.Request, next service.Next) (any, error) {
		out, err := next(ctx, all)
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
	if err := s.Hint(ctx, "s", "1", []string{"a"}); err != nil || !reflect.DeepEqual(seen[2].In, service.StepHint{Session: "s", Step: "1", Paths: []string{"a"}}) {
		t.Errorf("%v, seen %+v", err, seen[2])
	}
	if err := os.WriteFile(filepath.Join(root, "a"), []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if st, err := s.EndStep(ctx, session.StepEnd{Session: "s", Step: "1"}); err != nil || len(st.Patch.Files) != 1 {
		t.Errorf("%+v, %v", st, err)
	}
	for d, err := range s.Diff(ctx, "s", session.Scope{}, cairn.DiffOptions{}) {
		if err != nil || d.File != "a" {
			t.Errorf("%+v, %v", d, err)
		}
	}
	_, res, err := s.Revert(ctx, "s", session.Target{Message: "m"}, session.MoveOptions{DryRun: true})
	last := seen[len(seen)-1]
	if err != nil || len(res.Deleted) != 1 || last.Kind != service.RequestMove || last.Session != "s" || !last.DryRun || outcomes[len(outcomes)-1].(service.Move).Result != res {
		t.Errorf("%+v, %v, seen %+v", res, err, last)
	}
	if err := s.Delete(ctx, "s"); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(ctx, "s"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("a deleted session: %v", err)
	}
}
