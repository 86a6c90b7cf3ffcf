package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// gitBackAsProcess takes a turn back with git. The session stays as it is if it is reverted already.
func gitBackAsProcess(s *session.Sessions) error {
	opt := session.MoveOptions{Git: true, DryRun: true}
	to := session.Target{Message: "m1"}
	_, res, err := s.Revert(background, "s", to, opt)
	if err != nil {
		return err
	}
	_, res, err = s.Revert(background, "s", to, session.MoveOptions{Git: true, Plan: res.PlanID})
	if err == nil && !res.Complete() {
		err = fmt.Errorf("incomplete: %+v", res)
	}
	return err
}

// TestGitBackKilled kills the way back of files and git before each write-type call. The next command
// brings both to their end, or finds that nothing was done; the same again brings it about.
func TestGitBackKilled(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for name, harm := range map[string]func(g *gitRoot){
		"turn": (*gitRoot).harm,
		"gone": func(g *gitRoot) {
			g.step("s", "m1", "1", func() { os.RemoveAll(g.path(".git")); g.write("file", "x") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGitRoot(t)
			done := g.look()
			harm(g)
			killGitBack(g, g.look(), done)
		})
	}
}

func killGitBack(g *gitRoot, old, done string) {
	t := g.T
	g.repo.Close()
	pristine := t.TempDir()
	gittest.CopyTree(t, g.root, filepath.Join(pristine, "root"))
	gittest.CopyTree(t, g.data, filepath.Join(pristine, "data"))
	env := append(os.Environ(), "CAIRN_TEST_COMMAND=git", "CAIRN_TEST_ROOT="+g.root, "CAIRN_TEST_DATA="+g.data, "GOMAXPROCS=2")
	finished := 0
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		gittest.CopyTree(t, filepath.Join(pristine, "root"), g.root)
		gittest.CopyTree(t, filepath.Join(pristine, "data"), g.data)
		return gittest.KillAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n)
	}, func(when string) {
		g.reopen()
		if _, err := g.repo.Track(background, cairn.TrackOptions{}); err != nil { // the next command, whatever it is
			t.Fatal(err)
		}
		want := old
		if g.get("s").Revert != nil {
			want = done
			finished++
		}
		g.sameIfThere(when, want)
		g.noTemporaries(when)
		g.repo.Close()
		if crash := gittest.Undisturbed(t, []string{os.Args[0]}, env); crash.ExitCode != 0 {
			t.Fatalf("again, %s: %s\n%s", when, crash, crash.Stderr)
		}
		g.same("again, "+when, done)
		g.reopen()
		g.o.Fsck(g.repo.StoreDir())
		g.repo.Close()
	})
	if finished == 0 && gittest.Stride() == 1 {
		t.Error("no interrupted operation was finished")
	}
	t.Logf("finished by the next command after %d of the calls", finished)
}

// sameIfThere is same for a repository that may be gone.
func (g *gitRoot) sameIfThere(what, want string) {
	g.Helper()
	if got := g.look(); got != want {
		g.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

// noTemporaries looks for files that a killed process has left in the git directory or beside it.
func (g *gitRoot) noTemporaries(what string) {
	g.Helper()
	for _, pattern := range []string{".git.*", ".git/*cairn*", ".git/*.lock"} {
		if rest, _ := filepath.Glob(g.path(pattern)); len(rest) > 0 {
			g.Errorf("%s: left behind: %s", what, strings.Join(rest, " "))
		}
	}
}
