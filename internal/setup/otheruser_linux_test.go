package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/known"
)

// TestFileOfAnotherUser: a file of another user in a directory of one's own could be replaced, and would have another
// owner then.
func TestFileOfAnotherUser(t *testing.T) {
	t.Parallel()
	const nobody = 65534
	if os.Getuid() != 0 {
		t.Skip("needs root to make a file of another user")
	}
	p, home := places(t)
	path := filepath.Join(home, "codex", "hooks.json")
	write(t, path, "{}")
	for _, dir := range []string{filepath.Dir(path), home, filepath.Dir(home)} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	plan, err := New(known.Codex, Options{Places: p, Program: program})
	if err != nil {
		t.Fatal(err)
	}
	applied := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the rights are those of the thread, which ends with the goroutine
		syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0)
		applied <- plan.Apply()
	}()
	if err := <-applied; !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
	if got := contents(t, path); got != "{}" {
		t.Errorf("changed to %q", got)
	}
}
