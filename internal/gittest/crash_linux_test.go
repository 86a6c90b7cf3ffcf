package gittest_test

import (
	"encoding/binary"
	"fmt"
	"os"
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
