package gittest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

func init() { victims["family"] = familyVictim }

// familyVictim has another process, in a group of its own, make three directories, and makes a fourth
// one itself.
func familyVictim(_, dir string) int {
	cmd := exec.Command("sh", "-c", "mkdir 1 && mkdir 2 && mkdir 3")
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s", err, out)
		return 3
	}
	if err := os.Mkdir(filepath.Join(dir, "4"), 0o755); err != nil {
		return 4
	}
	return 0
}

// The calls of all processes count as one sequence, and all of them die at once.
func TestKillFamilyAt(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 5; n++ {
		dir := t.TempDir()
		argv, env := victimRun("family", dir)
		crash := gittest.KillFamilyAt(t, argv, env, "mkdir,mkdirat", n)
		made, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if crash.Hit != (n < 5) || len(made) != min(n, 5)-1 || n == 5 && crash.ExitCode != 0 {
			t.Errorf("killed at call %d: %v, %d directories", n, crash, len(made))
		}
	}
}

func TestFailFamilyAt(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{2: 3, 4: 4, 5: 0} {
		argv, env := victimRun("family", t.TempDir())
		if crash := gittest.FailFamilyAt(t, argv, env, "mkdir,mkdirat", n, syscall.ENOSPC); crash.Hit != (n < 5) || crash.ExitCode != want {
			t.Errorf("failed at call %d: %v", n, crash)
		}
	}
}
