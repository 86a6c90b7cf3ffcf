//go:build unix

package best

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// asProcess is a run in a process of its own, whose system calls fail or which is killed: two forks, in each of
// which the command makes a file.
func asProcess(dir string) int {
	open := func(root string) (*cairn.Repo, error) {
		return cairn.Open(cairn.Options{Root: root, DataDir: filepath.Join(dir, "data")})
	}
	say := func(text string) { fmt.Fprintln(os.Stderr, text) }
	repo, err := open(filepath.Join(dir, "project"))
	if err != nil {
		say(err.Error())
		return 1
	}
	defer repo.Close()
	res, err := Run(context.Background(), repo, &Options{
		Count: 2, Jobs: 2, Command: []string{"sh", "-c", "echo new > made"}, Test: []string{"sh", "-c", "test -e made"},
		Environ: os.Environ(), Open: open, Say: func(string) {}, Warn: say,
	})
	if err != nil {
		say(err.Error())
		return 1
	}
	for i := range res.Forks {
		if a := &res.Forks[i]; !a.Good() {
			say(fmt.Sprintf("%+v", a))
			return 1
		}
	}
	return 0
}

// harmed checks what a run has left that was cut short. Each fork is there whole, or is not there; the first
// directory is as it was; a place without a fork can have one.
func (w *world) harmed(when string, crash gittest.Crash, before gittest.Listing) {
	w.Helper()
	gittest.AssertEqual(w.T, "the first directory, "+when, before, gittest.Manifest(w.T, w.root))
	want := gittest.Manifest(w.T, w.root)
	delete(want, "dep")
	delete(want, "dep/lib")
	there := 0
	for k := 1; k <= 2; k++ {
		dir := w.root + "-" + strconv.Itoa(k)
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		there++
		got := gittest.Manifest(w.T, dir)
		if _, made := got["made"]; !made && crash.ExitCode == 0 {
			w.Errorf("%s: success, and the command did not run in %s", when, dir)
		}
		delete(got, "made")
		gittest.AssertEqual(w.T, dir+", "+when, want, got)
	}
	if crash.ExitCode == 0 && there != 2 {
		w.Errorf("%s: success with %d forks", when, there)
	}
	repo, err := w.open(w.root)
	if err != nil {
		w.Fatal(err)
	}
	defer repo.Close()
	for k := 1; k <= 2; k++ {
		w.goesOn(repo, w.root+"-"+strconv.Itoa(k), when)
	}
	if names := w.besides(); len(names) > 0 {
		w.Errorf("%s: left behind: %q", when, names)
	}
}

// goesOn makes a fork where none is, checks its store, and removes it.
func (w *world) goesOn(repo *cairn.Repo, dir, when string) {
	w.Helper()
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if _, err := repo.Fork(w.Context(), dir, cairn.ForkOptions{}); err != nil {
			w.Errorf("%s: the next fork: %v", when, err)
			return
		}
	}
	fork, err := w.open(dir)
	if err != nil {
		w.Errorf("%s: %v", when, err)
		return
	}
	defer fork.Close()
	if _, err := fork.Track(w.Context(), cairn.TrackOptions{}); err != nil { // it removes what dead processes left
		w.Errorf("%s: %v", when, err)
	}
	if faults, err := fork.Check(w.Context(), cairn.CheckOptions{}); err != nil || len(faults) > 0 {
		w.Errorf("%s: store of %s: %v %v", when, dir, faults, err)
	}
	if _, err := repo.RemoveFork(w.Context(), dir, cairn.RemoveForkOptions{Force: true}); err != nil {
		w.Errorf("%s: %v", when, err)
	}
}

// besides lists what lies beside the first directory: neither data nor a file with output.
func (w *world) besides() (names []string) {
	w.Helper()
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains([]string{"project", "data"}, e.Name()) && !strings.HasSuffix(e.Name(), ".log") {
			names = append(names, e.Name())
		}
	}
	return names
}

// harmless is a world that best runs in over and over. Each run begins with clean, and has the environment.
func harmless(t *testing.T) (w *world, clean func(), env []string, before gittest.Listing) {
	t.Helper()
	w = newWorld(t)
	w.repo.Close()
	clean = func() {
		if err := os.RemoveAll(filepath.Join(w.dir, "data")); err != nil {
			t.Fatal(err)
		}
	}
	return w, clean, append(os.Environ(), processVariable+"="+w.dir, "GOMAXPROCS=2"), gittest.Manifest(t, w.root)
}

// TestWriteErrors lets one system call fail, as on a full disk.
func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			w, clean, env, before := harmless(t)
			gittest.Failed(t, []syscall.Errno{errno}, gittest.First(), gittest.Stride(), func(n int, errno syscall.Errno) gittest.Crash {
				clean()
				return gittest.FailAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n, errno)
			}, func(when string, crash gittest.Crash) { w.harmed(when+": "+crash.Stderr, crash, before) })
		})
	}
}

// TestKilled kills the process, and with it the commands that it has started.
func TestKilled(t *testing.T) {
	t.Parallel()
	w, clean, env, before := harmless(t)
	gittest.Killed(t, gittest.Stride(), func(n int) gittest.Crash {
		clean()
		return gittest.KillFamilyAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n)
	}, func(when string) { w.harmed(when, gittest.Crash{ExitCode: -1}, before) })
	w.harmed("undisturbed", gittest.Crash{}, before)
}
