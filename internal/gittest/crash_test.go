package gittest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// victimEnv makes the test program behave as one to be traced.
const victimEnv = "GITTEST_VICTIM"

func TestMain(m *testing.M) {
	if what := os.Getenv(victimEnv); what != "" {
		run := victim
		if own, ok := victims[what]; ok {
			run = own
		}
		syscall.Exit(run(what, os.Args[1])) // os.Exit would write coverage files
	}
	gittest.Prepare()
	os.Exit(m.Run())
}

// victims are programs of other kinds, by what the test asks for.
var victims = map[string]func(what, dir string) int{}

const victimRenames = 24

// victim renames files one after the other, each time from another thread: the
// worst case for counting by thread.
func victim(what, dir string) int {
	baton, done := make(chan int, 1), make(chan error)
	for range 6 {
		go func() {
			runtime.LockOSThread()
			done <- victimThread(what, dir, baton)
		}()
	}
	baton <- 0
	for range 6 {
		if err := <-done; err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 3
		}
	}
	return 0
}

func victimThread(what, dir string, baton chan int) error {
	for i := range baton {
		if i == victimRenames {
			close(baton)
			return nil
		}
		from, to := filepath.Join(dir, "from"), filepath.Join(dir, fmt.Sprintf("to%02d", i))
		err := os.WriteFile(from, []byte("x"), 0o600)
		if err == nil {
			err = os.Rename(from, to)
		}
		if err != nil && what == "careless" {
			err = nil
		}
		if err != nil {
			close(baton)
			return err
		}
		baton <- i + 1
		runtime.Gosched()
	}
	return nil
}

func victimRun(what, dir string) (argv, env []string) {
	return []string{os.Args[0], dir}, append(os.Environ(), victimEnv+"="+what)
}

const renames = "rename,renameat,renameat2"

func renamed(t *testing.T, dir string) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "to*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

func TestCountSyscalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	argv, env := victimRun("careful", dir)
	counts := gittest.CountSyscalls(t, argv, env, renames+",write,fsync")
	if got := counts["rename"] + counts["renameat"] + counts["renameat2"]; got != victimRenames {
		t.Errorf("counted %d renames, want %d: %v", got, victimRenames, counts)
	}
	if counts["write"] < victimRenames || counts["fsync"] != 0 {
		t.Errorf("counted %v, want at least %d writes and no fsync", counts, victimRenames)
	}
	if got := renamed(t, dir); got != victimRenames {
		t.Errorf("%d files renamed, want %d: the program is disturbed", got, victimRenames)
	}
}

// strace must count the same.
func TestCountSyscallsAgainstStrace(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed: its count cannot be compared")
	}
	const calls = "renameat,unlinkat,mkdirat,fchmod"
	argv, env := victimRun("careful", t.TempDir())
	counts := gittest.CountSyscalls(t, argv, env, calls)

	out := filepath.Join(t.TempDir(), "trace")
	argv, env = victimRun("careful", t.TempDir())
	cmd := exec.Command("strace", append([]string{"-f", "-qq", "-o", out, "-e", "trace=" + calls}, argv...)...)
	cmd.Env = env
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("strace does not run here: %v: %s", err, msg)
	}
	trace, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for call := range strings.SplitSeq(calls, ",") {
		if want := strings.Count(string(trace), " "+call+"("); counts[call] != want {
			t.Errorf("%s: counted %d, strace %d", call, counts[call], want)
		}
	}
}

// Every N is hit, on whichever thread it happens, before the call takes effect.
func TestKillAt(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		dir := t.TempDir()
		argv, env := victimRun("careful", dir)
		crash := gittest.KillAt(t, argv, env, renames, n)
		if !crash.Hit {
			if n != victimRenames+1 || crash.ExitCode != 0 || renamed(t, dir) != victimRenames {
				t.Errorf("n = %d: %v, %d renamed; want the first undisturbed run at %d", n, crash, renamed(t, dir), victimRenames+1)
			}
			return
		}
		if got := renamed(t, dir); got != n-1 || crash.ExitCode != -1 {
			t.Errorf("n = %d: %v, %d renamed, want %d", n, crash, got, n-1)
		}
	}
}

func TestFailAt(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 7, victimRenames} {
		dir := t.TempDir()
		argv, env := victimRun("careful", dir)
		crash := gittest.FailAt(t, argv, env, renames, n, syscall.ENOSPC)
		if !crash.Hit || crash.ExitCode != 3 || renamed(t, dir) != n-1 {
			t.Errorf("n = %d: %v, %d renamed; want status 3 and %d", n, crash, renamed(t, dir), n-1)
		}
		if !strings.Contains(crash.Stderr, "no space left on device") {
			t.Errorf("n = %d: stderr %q, want the error in it", n, crash.Stderr)
		}
	}
}

func TestFailAtGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	argv, env := victimRun("careless", dir)
	crash := gittest.FailAt(t, argv, env, renames, 5, syscall.EIO)
	if !crash.Hit || crash.ExitCode != 0 || renamed(t, dir) != victimRenames-1 {
		t.Errorf("%v, %d renamed; want all but one", crash, renamed(t, dir))
	}
	dir = t.TempDir()
	argv, env = victimRun("careless", dir)
	crash = gittest.FailFrom(t, argv, env, renames, 5, syscall.EDQUOT)
	if !crash.Hit || crash.ExitCode != 0 || renamed(t, dir) != 4 {
		t.Errorf("%v, %d renamed; want 4", crash, renamed(t, dir))
	}
}

// A program that starts others is left to do so, and its output is kept.
func TestTraceLeavesChildrenAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	crash := gittest.KillAt(t, []string{"sh", "-c", `mkdir "$0/a" && ls "$0" && echo oops >&2; exit 7`, dir}, nil, "mkdir,mkdirat", 1)
	if crash.Hit || crash.ExitCode != 7 || crash.Stdout != "a\n" || crash.Stderr != "oops\n" {
		t.Errorf("%+v, want status 7 and both outputs", crash)
	}
}

// TestFailedVisits: the errors take turns, and the first run that is not hit ends the loop.
func TestFailedVisits(t *testing.T) {
	eio, full := syscall.EIO, syscall.ENOSPC
	var visits, looks []string
	gittest.Failed(t, []syscall.Errno{eio, full}, 3, 5, func(n int, errno syscall.Errno) gittest.Crash {
		visits = append(visits, fmt.Sprint(n, " ", errno))
		return gittest.Crash{Hit: n < 15, Call: "write"}
	}, func(when string, _ gittest.Crash) { looks = append(looks, when) })
	want := []string{fmt.Sprint("3 ", eio), fmt.Sprint("8 ", full), fmt.Sprint("13 ", eio), fmt.Sprint("18 ", full)}
	if !slices.Equal(visits, want) {
		t.Errorf("visits %q, want %q", visits, want)
	}
	want = []string{fmt.Sprint(eio, " at call 3, write"), fmt.Sprint(full, " at call 8, write"), fmt.Sprint(eio, " at call 13, write")}
	if !slices.Equal(looks, want) {
		t.Errorf("looks %q, want %q", looks, want)
	}
}
