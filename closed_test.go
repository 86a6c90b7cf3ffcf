package cairn_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
	before := gittest.Manifest(t, repo.StoreDir())
	for name, err := range refusals(f.Context(), repo, sessions) {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v, want os.ErrClosed", name, err)
		}
	}
	if other, err := repo.Beside(t.TempDir()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("another root: %v, %v, and nothing would close it", other, err)
	}
	if diff := gittest.Diff(before, gittest.Manifest(t, repo.StoreDir())); diff != "" {
		t.Errorf("the store has changed:\n%s", diff)
	}
}

// TestZeroValues: a store that was never opened is a closed one.
func TestZeroValues(t *testing.T) {
	t.Parallel()
	var s cairn.Store
	_, usage := s.Usage(t.Context())
	_, check := s.Check(t.Context(), cairn.CheckOptions{})
	_, fix := s.Check(t.Context(), cairn.CheckOptions{Fix: true})
	_, clean := s.Clean(t.Context(), cairn.CleanOptions{DryRun: true})
	for name, err := range map[string]error{"usage": usage, "check": check, "fix": fix, "clean": clean} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s.Dir()+s.Root() != "" || s.Close() != nil || (&cairn.Repo{}).Close() != nil {
		t.Errorf("store %q of %q", s.Dir(), s.Root())
	}
}

// TestStoreThatIsGone: an open Repo whose store was removed says so.
func TestStoreThatIsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	f.track()
	repo := f.repo()
	if err := os.RemoveAll(repo.StoreDir()); err != nil {
		t.Fatal(err)
	}
	for name, err := range refusals(f.Context(), repo, session.New(repo)) {
		if !errors.Is(err, cairn.ErrStore) {
			t.Errorf("%s: %v, want ErrStore", name, err)
		}
	}
}

// TestRootThatIsGone: a root that was removed, or that another path stands for now, is no empty one
// and none to write to.
func TestRootThatIsGone(t *testing.T) {
	t.Parallel()
	for name, instead := range map[string]func(f *fixture, away string) error{
		"nothing":   func(*fixture, string) error { return nil },
		"a file":    func(f *fixture, _ string) error { return os.WriteFile(f.opt.Root, nil, 0o600) },
		"a symlink": func(f *fixture, away string) error { return os.Symlink(away, f.opt.Root) },
	} {
		f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
		hash := f.trackAll()
		f.write("a", "b\n")
		repo := f.repo()
		away := f.opt.Root + "-away"
		if err := errors.Join(os.Rename(f.opt.Root, away), instead(f, away)); err != nil {
			t.Skip(err)
		}
		_, track := repo.Track(f.Context(), cairn.TrackOptions{})
		_, restore := repo.Restore(f.Context(), hash, cairn.RestoreOptions{})
		_, blame := repo.Blame(f.Context(), "a", cairn.BlameOptions{})
		for call, err := range map[string]error{"track": track, "restore": restore, "blame": blame} {
			if !errors.Is(err, cairn.ErrRoot) {
				t.Errorf("%s in its place: %s: %v, want ErrRoot", name, call, err)
			}
		}
		if text, err := os.ReadFile(filepath.Join(away, "a")); string(text) != "b\n" {
			t.Errorf("%s in its place: the file holds %q, %v", name, text, err)
		}
	}
}

// refusals calls what reads or writes a store, and returns the errors.
func refusals(ctx context.Context, repo *cairn.Repo, sessions *session.Sessions) map[string]error {
	first := func(yield func(func(*cairn.Checkpoint, error) bool)) (err error) {
		yield(func(_ *cairn.Checkpoint, e error) bool { err = e; return false })
		return err
	}
	errs := make(map[string]error)
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
		"NoteTest": func(ctx context.Context) error {
			return repo.NoteTest(ctx, cairn.TestResult{Checkpoint: "@", Command: []string{"true"}})
		},
		"Redo":    func(ctx context.Context) error { _, err := repo.Redo(ctx, cairn.RevertOptions{}); return err },
		"Pin":     func(ctx context.Context) error { return repo.Pin(ctx, "@", "name") },
		"Unpin":   func(ctx context.Context) error { return repo.Unpin(ctx, "name") },
		"Clean":   func(ctx context.Context) error { _, err := repo.Clean(ctx, cairn.CleanOptions{}); return err },
		"Purge":   func(ctx context.Context) error { _, err := repo.Purge(ctx, []string{"a"}); return err },
		"Unpurge": func(ctx context.Context) error { return repo.Unpurge(ctx, []string{"a"}) },
		"project": func(ctx context.Context) error { return repo.SetProjectID(ctx, "shop") },
		"begin": func(ctx context.Context) error {
			_, err := sessions.Begin(ctx, session.SessionBegin{ID: "s"})
			return err
		},
	} {
		errs[name] = call(ctx)
	}
	return errs
}
