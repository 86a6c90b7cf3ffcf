package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestRootsKilled kills a way back over two directories before each write-type call. After the next
// command in each directory, in either order, all of them have gone back or none, and so says the
// session in each; the same again brings it about.
func TestRootsKilled(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	cases := map[string]struct {
		command string
		prepare func(r *roots)
		there   bool // the boundary is set when it is done
	}{
		"revert":   {"move", func(r *roots) { r.turns() }, true},
		"unrevert": {"unrevert", func(r *roots) { r.turns(); r.revert("s", session.Target{Start: true}) }, false},
		"undo":     {"roots undo", func(r *roots) { r.turns(); r.revert("s", session.Target{Start: true}) }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoots(t, twoTrees()...)
			c.prepare(r)
			r.killed(c.command, c.there)
		})
	}
}

func (r *roots) killed(command string, there bool) {
	t, old := r.T, r.manifest()
	base, pristine := filepath.Dir(r.root), t.TempDir()
	r.close()
	reset := func() {
		gittest.CopyTree(t, filepath.Join(pristine, "base"), base)
		gittest.CopyTree(t, filepath.Join(pristine, "data"), r.data)
	}
	gittest.CopyTree(t, base, filepath.Join(pristine, "base"))
	gittest.CopyTree(t, r.data, filepath.Join(pristine, "data"))
	env := append(os.Environ(), "CAIRN_TEST_COMMAND="+command, "CAIRN_TEST_ROOT="+r.root, "CAIRN_TEST_DATA="+r.data, "GOMAXPROCS=2")
	run := func(n int) gittest.Crash {
		return gittest.KillAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n)
	}
	if crash := run(1 << 30); crash.ExitCode != 0 {
		t.Fatalf("undisturbed: %s\n%s", crash, crash.Stderr)
	}
	done := r.manifest()
	if done == old {
		t.Fatal("the command changes nothing")
	}
	n, finished, dropped, told := gittest.First(), 0, 0, 0
	for ; ; n += gittest.Stride() {
		reset()
		crash := run(n)
		if !crash.Hit {
			break
		}
		halfway := r.manifest() != old
		r.open()
		for i := range r.all {
			if _, err := r.all[(i+n)%len(r.all)].repo.Track(background, cairn.TrackOptions{}); err != nil {
				t.Fatal(err)
			}
			log := r.all[(i+n)%len(r.all)].log.String()
			says := strings.Contains(log, "not finished in every directory")
			unfinished := strings.Contains(log, "finished an interrupted operation") && r.manifest() != done
			if unfinished && !says || says && i == len(r.all)-1 {
				t.Errorf("killed at call %d (%s): after %d commands unfinished %v, told %v", n, crash.Call, i+1, unfinished, says)
			}
			if says {
				told++
			}
		}
		want := old
		if r.moved() == there {
			want = done
			finished++
		} else if halfway {
			t.Errorf("killed at call %d (%s): a root had changed, and went back", n, crash.Call)
		} else {
			dropped++
		}
		r.same("killed at call "+crash.Call, want)
		r.close()
		if crash := run(1 << 30); crash.ExitCode != 0 && (command != "roots undo" || want == old) {
			t.Fatalf("again after call %d: %s\n%s", n, crash, crash.Stderr)
		}
		if command != "roots undo" || want == old {
			r.same("again", done)
		}
		for _, f := range r.all {
			gittest.NewOracle(t).Fsck(cairn.StorePath(r.data, f.root))
		}
		if t.Failed() {
			t.Fatalf("killed at call %d: %s", n, crash)
		}
	}
	if gittest.Stride() == 1 && (finished == 0 || dropped == 0 || told == 0) {
		t.Errorf("finished %d, dropped %d, told %d: not every case was met", finished, dropped, told)
	}
	t.Logf("%d write-type system calls, finished by the next commands after %d of them", n-1, finished)
}

func (r *roots) open() {
	r.Helper()
	for _, f := range r.all {
		f.reopen()
	}
}

func (r *roots) close() {
	r.Helper()
	for _, f := range r.all {
		if err := f.repo.Close(); err != nil {
			r.Fatal(err)
		}
	}
}

// moved reports whether the session has a boundary, which all roots have to agree about.
func (r *roots) moved() bool {
	r.Helper()
	first := r.get("s").Revert != nil
	for _, f := range r.all {
		if (f.get("s").Revert != nil) != first {
			r.Errorf("the roots differ: %s has %v", f.root, !first)
		}
	}
	return first
}

// TestRootsLaterShareFails: a root that comes later in the order fails before it has a journal. The
// journals of those before it are dropped, and nothing has changed.
func TestRootsLaterShareFails(t *testing.T) {
	t.Parallel()
	r := newRoots(t, twoTrees()...)
	step := r.step("s", "m1", "1", func() { r.write("file", "1\n"); r.all[1].write("file", "1\n") })
	before, failed := r.manifest(), errors.New("no journal here")
	err := access.Lines(r.repo).Update(background, func(u *operation.LineUpdate) error {
		mine := operation.Share{Root: r.root, Run: func(dryRun bool, plan string, joint *operation.Joint) (*cairn.Result, error) {
			u.Join(joint)
			back := []operation.UndoneStep{{Step: operation.Step{From: step.Before.ID, To: step.After.ID}}}
			return u.RevertSteps(background, back, step.Before.ID, cairn.RevertOptions{DryRun: dryRun, Plan: plan})
		}}
		other := operation.Share{Root: "/z", Run: func(dryRun bool, _ string, _ *operation.Joint) (*cairn.Result, error) {
			if !dryRun {
				if _, err := os.Stat(filepath.Join(r.repo.StoreDir(), "cairn", "journal", "operation")); err != nil {
					t.Errorf("the first root has no journal yet: %v", err)
				}
				return nil, failed
			}
			return &cairn.Result{}, nil
		}}
		_, err := operation.Together([]operation.Share{mine, other}, 0, false, "")
		return err
	})
	if !errors.Is(err, failed) || !errors.Is(err, cairn.ErrOtherRoot) || !strings.Contains(err.Error(), "/z") {
		t.Errorf("%v", err)
	}
	r.open()
	if _, err := r.repo.Track(background, cairn.TrackOptions{}); err != nil {
		t.Fatal(err)
	}
	r.same("dropped", before)
	for op, err := range r.repo.Operations(background) {
		t.Errorf("an operation: %+v, %v", op, err)
	}
}
