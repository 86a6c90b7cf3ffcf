package cairn_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestDeadlinesAreOneError: whichever call a deadline ends, and wherever, the error is that of cairn and that of the
// context. A context that was cancelled keeps its own.
func TestDeadlinesAreOneError(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})

	first := f.track().Checkpoint
	f.write("a", "2\n")
	f.track()
	r, s := f.repo(), session.New(f.repo())
	calls := map[string]func(context.Context) error{
		"track":   func(ctx context.Context) error { _, err := r.Track(ctx, cairn.TrackOptions{}); return err },
		"restore": func(ctx context.Context) error { _, err := r.Restore(ctx, first, cairn.RestoreOptions{}); return err },
		"undo":    func(ctx context.Context) error { _, err := r.Undo(ctx, cairn.RevertOptions{}); return err },
		"changes": func(ctx context.Context) error { _, err := r.Changes(ctx, first, "@"); return err },
		"diff":    func(ctx context.Context) error { return r.Diff(ctx, io.Discard, first, "@", cairn.DiffOptions{}) },
		"clean":   func(ctx context.Context) error { _, err := r.Clean(ctx, cairn.CleanOptions{}); return err },
		"check":   func(ctx context.Context) error { _, err := r.Check(ctx, cairn.CheckOptions{}); return err },
		"verify":  func(ctx context.Context) error { _, err := r.Verify(ctx, cairn.VerifyOptions{}); return err },
		"purge":   func(ctx context.Context) error { _, err := r.Purge(ctx, []string{"a"}); return err },
		"export":  func(ctx context.Context) error { return r.Export(ctx, io.Discard, "@") },
		"log": func(ctx context.Context) (err error) {
			for _, err = range r.Checkpoints(ctx) {
			}
			return err
		},
		"begin": func(ctx context.Context) error { _, err := s.Begin(ctx, session.SessionBegin{ID: "s"}); return err },
		"step": func(ctx context.Context) error {
			_, err := s.BeginStep(ctx, session.StepBegin{Session: "s"})
			return err
		},
		"list": func(ctx context.Context) error { _, err := s.List(ctx); return err },
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	caused, cancel2 := context.WithDeadlineCause(t.Context(), time.Now(), errors.New("the host's own"))
	defer cancel2()
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	for name, call := range calls {
		for _, ctx := range []context.Context{late, caused} {
			if err := call(ctx); err != nil && (!errors.Is(err, cairn.ErrDeadline) || !errors.Is(err, context.DeadlineExceeded)) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := call(cancelled); err != nil && (errors.Is(err, cairn.ErrDeadline) || !errors.Is(err, context.Canceled)) {
			t.Errorf("%s, cancelled: %v", name, err)
		}
	}
	for _, name := range []string{"track", "changes", "diff", "log", "begin", "step"} {
		if err := calls[name](late); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
