package cairn_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func (f *fixture) note(r *cairn.Repo, spec string, status int, command ...string) {
	f.Helper()
	err := r.NoteTest(f.Context(), cairn.TestResult{Checkpoint: spec, Command: command, Status: status, When: time.Unix(1e9, 0).UTC(), Milliseconds: 5})
	if err != nil {
		f.Fatal(err)
	}
}

// TestGreen: @green is the newest checkpoint at which no command failed and one passed.
func TestGreen(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1")})
	r := f.repo()
	one := f.trackBy(r)
	f.write("a", "2")
	two := f.trackBy(r)
	f.write("a", "3")
	three := f.trackBy(r)
	green := func(want string) {
		t.Helper()
		c, err := f.repo().Lookup(t.Context(), "@green")
		if want == "" {
			if !errors.Is(err, cairn.ErrNotFound) {
				t.Errorf("%v, %v", c, err)
			}
			return
		}
		if err != nil || c.ID != want {
			t.Errorf("%v, %v", c, err)
		}
	}
	green("")
	f.note(r, three.Checkpoint, cairn.TestSkipped, "x")
	f.note(r, two.Checkpoint, 1, "x")
	green("")
	f.note(r, one.Checkpoint, 0, "x")
	green(one.Checkpoint)
	f.note(r, "@~1", 0, "x") // again, and better
	green(two.Checkpoint)
	f.note(r, two.Hash, 0, "y\xff")
	green(two.Checkpoint)
	f.note(r, two.Checkpoint, 2, "y\xff")
	green(one.Checkpoint)
	f.note(r, "@", 0, "y")
	green(three.Checkpoint)

	all, err := r.TestResults(t.Context())
	if err != nil || len(all) != 5 {
		t.Fatalf("%+v, %v", all, err)
	}
	if last := all[3]; last.Checkpoint != two.Checkpoint || last.Status != 2 || len(last.Command) != 1 || last.Command[0] != "y\xff" || last.Milliseconds != 5 {
		t.Errorf("%+v", last)
	}
	for _, bad := range []cairn.TestResult{{Checkpoint: "@", Command: cairn.Paths{"x"}, Status: -1}, {Checkpoint: "@", Command: cairn.Paths{"x"}, Status: 256}, {Checkpoint: "@"}} {
		if r.NoteTest(t.Context(), bad) == nil {
			t.Errorf("%+v was noted", bad)
		}
	}
	if err := r.NoteTest(t.Context(), cairn.TestResult{Checkpoint: "none", Command: cairn.Paths{"x"}}); !errors.Is(err, cairn.ErrNotFound) {
		t.Error(err)
	}
	if _, err := r.Restore(t.Context(), "@green", cairn.RestoreOptions{DryRun: true}); err != nil {
		t.Error(err)
	}
	gittest.FsckBare(t, r.StoreDir())
}

// TestResultsOutlive: results outlive cleaning, purging and a check of the store, follow rewritten
// checkpoints, keep none alive, and stay here when lines are pushed.
func TestResultsOutlive(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("1"), "noise": gittest.File(noise(1, 4096)), "secret": gittest.File("password")})
	r := f.repo()
	one := f.trackBy(r)
	f.note(r, one.Checkpoint, 0, "x")
	if err := os.Remove(filepath.Join(f.root, "secret")); err != nil {
		t.Fatal(err)
	}
	f.write("a", "2")
	f.write("noise", "") // what it was is enough garbage for a cleaning to drop
	two := f.trackBy(r)
	f.note(r, two.Checkpoint, 1, "x")
	if _, err := r.Purge(t.Context(), []string{"secret"}); err != nil {
		t.Fatal(err)
	}
	c, err := r.Lookup(t.Context(), "@green")
	if err != nil || c.ID == one.Checkpoint {
		t.Fatalf("%v, %v: not the checkpoint without the path", c, err)
	}
	if again, err := r.Lookup(t.Context(), one.Checkpoint); err != nil || again.ID != c.ID {
		t.Errorf("%v, %v", again, err)
	}
	if _, err := exec.LookPath("git"); err == nil {
		remote := filepath.Join(t.TempDir(), "remote")
		if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", "--bare", remote).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		if _, err := r.Push(t.Context(), remote); err != nil {
			t.Fatal(err)
		}
		refs, err := exec.CommandContext(t.Context(), "git", "--git-dir", remote, "for-each-ref", "--format=%(refname)").CombinedOutput()
		if err != nil || !strings.Contains(string(refs), "/tracks/") || strings.Contains(string(refs), "/tests") {
			t.Errorf("pushed %s, %v", refs, err)
		}
	}
	if _, err := r.Clean(t.Context(), cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 1, KeepLast: 1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Lookup(t.Context(), c.ID); !errors.Is(err, cairn.ErrNotFound) {
		t.Errorf("a result keeps its checkpoint: %v", err)
	}
	if _, err := f.repo().Lookup(t.Context(), "@green"); !errors.Is(err, cairn.ErrNotFound) {
		t.Error(err)
	}
	f.note(r, "@", 0, "y")
	all, err := f.repo().TestResults(t.Context())
	if err != nil || len(all) != 2 { // that of the checkpoint that is gone was dropped
		t.Errorf("%+v, %v", all, err)
	}
	if report, err := r.Check(t.Context(), cairn.CheckOptions{}); err != nil {
		t.Errorf("%+v, %v", report, err)
	}
	gittest.FsckBare(t, r.StoreDir())
}
