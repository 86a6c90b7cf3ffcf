//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestR92KilledRestore kills a restore at every rename, deletion and directory that it
// makes or removes, in the user's directory or in the store (R91-R93, promise 7). The
// next command, whichever it is, finds or makes the old state or the new one, and
// says so when it finished what had begun.
func TestR92KilledRestore(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	const calls = "rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,symlink,symlinkat"
	begin := gittest.Tree{
		"a": gittest.File("1\n"), "gone": gittest.File("2\n"), "d/b": gittest.Exec("3\n"),
		"empty": gittest.Dir(), "link": gittest.Link("a"),
	}
	later := gittest.Tree{
		"a": gittest.File("4\n"), "d/b": gittest.File("5\n"), "new/deep/c": gittest.File("6\n"), "link": gittest.Link("b"),
	}
	finished := 0
	for n := 1; ; n += gittest.Step() {
		work := t.TempDir()
		home, dir := filepath.Join(work, "home"), filepath.Join(work, "project")
		gittest.Create(t, home, nil)
		gittest.Create(t, dir, begin)
		track(t, dir, home)
		old := gittest.Manifest(t, dir)
		replaceTree(t, dir, later)
		track(t, dir, home)
		now := gittest.Manifest(t, dir)

		env := []string{"HOME=" + home, "PATH=/nowhere"}
		crash := gittest.KillAt(t, []string{program, "-C", dir, "restore", "@~1"}, env, calls, n)
		if !crash.Hit {
			break
		}
		next := runHere(t, dir, home, "", "status")
		if next.status != cli.ExitDone {
			t.Fatalf("%v: status %d: %s", crash, next.status, next.stderr)
		}
		got := gittest.Manifest(t, dir)
		switch {
		case gittest.Diff(old, got) == "":
			if strings.Contains(next.stderr, "finished an interrupted operation (kind restore") {
				finished++
			}
		case gittest.Diff(now, got) != "":
			t.Fatalf("%v: neither the old state nor the new one; from the new one:\n%s", crash, gittest.Diff(now, got))
		}
		if c := runHere(t, dir, home, "", "restore", "@~1"); c.status != cli.ExitDone {
			t.Fatalf("%v: restore again: status %d: %s", crash, c.status, c.stderr)
		}
		gittest.AssertEqual(t, crash.String(), old, gittest.Manifest(t, dir))
	}
	t.Logf("%d of the killed restores were finished by the next command", finished)
	if finished == 0 {
		t.Error("no run was killed with the restore half done")
	}
}

func track(t *testing.T, dir, home string) {
	t.Helper()
	if c := runHere(t, dir, home, "", "track"); c.status != cli.ExitDone {
		t.Fatalf("track: status %d: %s", c.status, c.stderr)
	}
}
