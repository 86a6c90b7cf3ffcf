package session_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestGitShowsWhatEachStepChanged: the line is plain history, and the author of a commit is the
// author of its changes.
func TestGitShowsWhatEachStepChanged(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.step("ses/1", "m", "1", func() { f.write("a", "2\n") })
	f.write("b", "user\n")
	f.step("ses/1", "m", "2", func() { f.write("a", "3\n") })
	oracle := gittest.NewOracle(t)
	out := oracle.In(f.repo.StoreDir(), "log", "-p", "--reverse", "--format=%an: %s", operation.LineRef("ses/1"))
	var got []string
	for line := range strings.Lines(out) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case strings.Contains(line, ": "), strings.HasPrefix(line, "+"), strings.HasPrefix(line, "-"):
			got = append(got, line)
		}
	}
	want := []string{"user: before step 1", "+1", "agent: step 1: 1 file", "-1", "+2", "user: before step 2", "+user", "agent: step 2: 1 file", "-2", "+3"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestR57_TheAgentCommits: files go back, the user's repository stays as it is.
func TestR57_TheAgentCommits(t *testing.T) {
	t.Parallel()
	oracle := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	oracle.Init(f.root)
	oracle.Commit(f.root, "one")
	f.reopen()
	var head string
	f.step("s", "m", "1", func() {
		f.write("a", "2\n")
		oracle.Commit(f.root, "two")
		head = oracle.In(f.root, "rev-parse", "HEAD")
	})
	f.revert("s", session.Target{Message: "m"})
	if now := oracle.In(f.root, "rev-parse", "HEAD"); f.read("a") != "1\n" || now != head {
		t.Errorf("a %q, HEAD %s, was %s", f.read("a"), now, head)
	}
}

// TestSessionsTravel: a session's line is pushed and fetched like any other.
func TestSessionsTravel(t *testing.T) {
	t.Parallel()
	oracle := gittest.NewOracle(t)
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	st := f.step("s", "m", "1", func() { f.write("a", "2\n") })
	f.revert("s", session.Target{Message: "m"})
	remote := t.TempDir()
	oracle.Init(remote, "--bare")
	pushed, err := f.repo.Push(background, remote)
	if errors.Is(err, cairn.ErrNoGit) {
		t.Skip("no git")
	}
	if err != nil || !slices.Contains(pushed, "sessions/s") {
		t.Fatalf("%q, %v", pushed, err)
	}
	f.data = t.TempDir()
	f.reopen()
	if _, err := f.repo.Fetch(background, remote); err != nil {
		t.Fatal(err)
	}
	if c, err := f.repo.Lookup(background, st.After.Hash); err != nil || c.ID != st.After.ID {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestHashesOfStepsAreCheckpoints: the hash of a patch can be looked up and restored.
func TestHashesOfStepsAreCheckpoints(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	st := f.step("s", "m", "1", func() { f.write("a", "2\n") })
	c, err := f.repo.Lookup(background, "@")
	if err != nil || c.Hash != st.After.Hash || c.Author != session.AuthorAgent {
		t.Errorf("%+v, %v", c, err)
	}
	res, err := f.repo.RevertPatches(background, []cairn.Patch{st.Patch}, cairn.RevertPatchesOptions{})
	if err != nil || f.read("a") != "1\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestR54_BoundToTheRoot: another root does not have the session.
func TestR54_BoundToTheRoot(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.step("s", "m", "1", func() { f.write("a", "2\n") })
	f.root = t.TempDir()
	f.reopen()
	if _, _, err := f.Revert(background, "s", session.Target{Message: "m"}, session.MoveOptions{}); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// TestCleaningKeepsForks: a fork has the steps that it shares with a session that went.
func TestCleaningKeepsForks(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	f.step("old", "m", "1", func() { f.write("a", "2\n") })
	f.step("old", "m", "2", func() { f.write("a", "3\n") })
	if _, err := f.Fork(background, "old", "", "fork"); err != nil {
		t.Fatal(err)
	}
	if err := f.Delete(background, "old"); err != nil {
		t.Fatal(err)
	}
	f.revert("fork", session.Target{Start: true})
	if _, err := f.repo.Clean(background, cairn.CleanOptions{Thorough: true, Retention: cairn.Retention{MaxAge: cairn.NoLimit, MaxCount: 7, KeepLast: 1}}); err != nil {
		t.Fatal(err)
	}
	f.reopen()
	if _, err := f.Get(background, "old"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if s, _ := f.unrevert("fork"); f.read("a") != "3\n" || s.Truncated || s.Steps != 2 {
		t.Errorf("a %q, %+v", f.read("a"), s)
	}
	gittest.NewOracle(t).Fsck(f.repo.StoreDir())
}

// TestTheNewestCheckpointIsTheOneJustTaken: a track of the day's last state adds a checkpoint where a session
// has captured another state meanwhile, so that @ means it.
func TestTheNewestCheckpointIsTheOneJustTaken(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n")})
	track := func() *cairn.TrackResult {
		res, err := f.repo.Track(background, cairn.TrackOptions{})
		if err != nil {
			t.Fatal(err)
		}
		newest, err := f.repo.Lookup(background, "@")
		if err != nil || newest.Hash != res.Hash {
			t.Errorf("@ is %+v, %v, want %s", newest, err, res.Hash)
		}
		return res
	}
	first := track()
	f.step("s", "m", "1", func() { f.write("a", "2\n") })
	if _, err := f.repo.Restore(background, first.Hash, cairn.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	again := track()
	if again.Checkpoint == first.Checkpoint || again.Hash != first.Hash {
		t.Errorf("%+v after %+v", again, first)
	}
	if third := track(); third.Checkpoint != again.Checkpoint {
		t.Errorf("%+v after %+v", third, again)
	}
	f.step("s", "m", "2", func() { f.write("a", "2\n") })
	f.write("a", "1\n")
	track()
}
