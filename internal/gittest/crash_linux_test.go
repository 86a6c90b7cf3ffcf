package gittest_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func init() { victims["waking"] = wakingVictim }

// wakingVictim writes to an event counter, as the Go runtime does to wake itself,
// then to a file.
func wakingVictim(_, dir string) int {
	counter, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	if _, err := unix.Write(counter, binary.NativeEndian.AppendUint64(nil, 1)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 4
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 5
	}
	return 0
}

// A write by which a program wakes itself is no write: made to fail, it ends a Go
// program that has done nothing wrong.
func TestFailAtLeavesEventCounters(t *testing.T) {
	t.Parallel()
	argv, env := victimRun("waking", t.TempDir())
	if crash := gittest.FailAt(t, argv, env, "write", 1, syscall.ENOSPC); !crash.Hit || crash.ExitCode != 5 {
		t.Errorf("%v; want the write to the file to fail", crash)
	}
}

// Machines without filters of system calls stop at every call, with the same answers.
func TestTraceWithoutFilter(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	cmd := exec.Command(os.Args[0], "-test.run", "^(TestKillAt|TestKillFamilyAt|TestFailAt|TestFailFamilyAt|TestFailAtGoesOn|TestCountSyscalls|TestTraceLeavesChildrenAlone)$")
	cmd.Env = append(os.Environ(), "GITTEST_NO_FILTER=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// A process that the program has left behind in a group of its own lives on, and makes all its calls.
func TestTraceServesWhatIsLeftBehind(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed: no process leaves the group")
	}
	dir := t.TempDir()
	for _, name := range []string{"ready", "go", "done"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const child = "echo >ready; read x <go; mkdir 1; mkdir 2; mkdir 3; echo 1 2 3 >done"
	const program = `cd "$0"; setsid sh -c "$1" & read x <ready; echo >hit`
	if crash := gittest.KillAt(t, []string{"sh", "-c", program, dir, child}, nil, "write", 1); !crash.Hit {
		t.Fatal(crash)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("x\n"), 0); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(filepath.Join(dir, "done"))
	made, _ := filepath.Glob(filepath.Join(dir, "[0-9]"))
	if hit, err := os.ReadFile(filepath.Join(dir, "hit")); err != nil || len(hit) > 0 {
		t.Errorf("the program wrote %q (%v)", hit, err)
	}
	if err != nil || string(said) != "1 2 3\n" || len(made) != 3 {
		t.Errorf("the process said %q and made %q (%v)", said, made, err)
	}
}
