package cairn_test

import (
	"os"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestGitNestedHalfMade: a repository that was not whole when a capture met it is found when it is, though nothing in
// its work tree changes then.
func TestGitNestedHalfMade(t *testing.T) {
	t.Parallel()
	for _, watch := range []bool{false, true} {
		f := newGitFixture(t)
		f.opt.Watch = watch
		r := f.repo()
		if err := os.MkdirAll(f.path("d/.git"), 0o755); err != nil {
			t.Fatal(err)
		}
		f.write("d/x", "x")
		first := f.trackBy(r)
		f.o.Init(f.path("d"))
		f.trackBy(r)
		words, err := r.GitMoved(f.Context(), first.Checkpoint, "@")
		if got := strings.Join(words, ", "); err != nil || got != "in d the repository is new" {
			t.Errorf("watching %v: moved %q (%v)", watch, got, err)
		}
	}
}

// TestGitNested: repositories in the work tree are found when they come, recorded when they move, and
// said by their paths. An index that was only refreshed makes no checkpoint, and a linked work tree is
// not nested.
func TestGitNested(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for _, watch := range []bool{false, true} {
		f := newGitFixture(t)
		f.opt.Watch = watch
		r := f.repo()
		first := f.trackBy(r)
		says := func(from, want string) {
			f.Helper()
			words, err := r.GitMoved(f.Context(), from, "")
			if got := strings.Join(words, ", "); err != nil || !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("watching %v: moved %q (%v), want %q", watch, got, err, want)
			}
		}
		if err := os.MkdirAll(f.path("d/sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		f.o.Init(f.path("d/sub"))
		f.write("d/sub/x", "x")
		f.o.Commit(f.path("d/sub"), "one")
		second := f.trackBy(r)
		says(first.Checkpoint, "in d/sub the repository is new")
		says(second.Checkpoint, "")
		f.o.In(f.path("d/sub"), "commit", "-q", "--allow-empty", "-m", "two")
		lost := strings.TrimSpace(f.o.In(f.path("d/sub"), "rev-parse", "HEAD"))
		says(second.Checkpoint, "in d/sub main moved (")
		third := f.trackBy(r)
		if third.Checkpoint == second.Checkpoint || third.Hash != second.Hash {
			t.Errorf("watching %v: %+v after %+v", watch, third, second)
		}
		f.o.In(f.path("d/sub"), "status")
		if again := f.trackBy(r); again.Checkpoint != third.Checkpoint {
			t.Errorf("watching %v: a new checkpoint without a change", watch)
		}
		f.o.In(f.path("d/sub"), "reset", "-q", "--hard", "HEAD~1")
		f.o.In(f.path("d/sub"), "reflog", "expire", "--expire=now", "--all")
		f.o.In(f.path("d/sub"), "gc", "-q", "--prune=now")
		f.o.In(f.vault(), "cat-file", "-e", lost)
		f.remove("d/sub/.git")
		says(third.Checkpoint, "in d/sub the repository is gone")
		f.trackBy(r)
		says(third.Checkpoint, "in d/sub the repository is gone")
		f.git("worktree", "add", "-q", "linked")
		last := f.trackBy(r)
		f.git("-C", "linked", "commit", "-q", "--allow-empty", "-m", "x")
		says(last.Checkpoint, "linked moved (")
		if again := f.trackBy(r); f.trackBy(r).Checkpoint != again.Checkpoint {
			t.Error("two checkpoints for one change")
		}
		f.sound()
	}
}
