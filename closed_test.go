package cairn_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestClosedStoreIsNoEmptyOne: a caller that closes a Repo while another goroutine still uses it gets
// an error there, and never the answers of a store without checkpoints.
func TestClosedStoreIsNoEmptyOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	f.track()
	repo := f.repo()
	sessions := session.New(repo)
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
	first := func(yield func(func(*cairn.Checkpoint, error) bool)) (err error) {
		yield(func(_ *cairn.Checkpoint, e error) bool { err = e; return false })
		return err
	}
	for name, call := range map[string]func(ctx context.Context) error{
		"Lookup":      func(ctx context.Context) error { _, err := repo.Lookup(ctx, "@"); return err },
		"Checkpoints": func(ctx context.Context) error { return first(repo.Checkpoints(ctx)) },
		"Log":         func(ctx context.Context) error { return first(repo.Log(ctx, cairn.LogOptions{})) },
		"Verify":      func(ctx context.Context) error { _, err := repo.Verify(ctx, cairn.VerifyOptions{}); return err },
		"Usage":       func(ctx context.Context) error { _, err := repo.Usage(ctx); return err },
		"Pins":        func(ctx context.Context) error { _, err := repo.Pins(ctx); return err },
		"Blame":       func(ctx context.Context) error { _, err := repo.Blame(ctx, "a", cairn.BlameOptions{}); return err },
		"Undo":        func(ctx context.Context) error { _, err := repo.Undo(ctx, cairn.RevertOptions{}); return err },
		"sessions":    func(ctx context.Context) error { _, err := sessions.List(ctx); return err },
		"Track":       func(ctx context.Context) error { _, err := repo.Track(ctx, cairn.TrackOptions{}); return err },
	} {
		if err := call(f.Context()); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v, want os.ErrClosed", name, err)
		}
	}
}
