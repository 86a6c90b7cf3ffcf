package gittest

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// isolatedWord is the argument of a test binary that Isolated has started.
const isolatedWord = "isolated"

// Isolated runs the test that calls it, a top-level one, once more in a process with
// mounts and limits of its own, in which it may mount and lower limits without any
// right. There it returns true, in the first process false once that is done. Where
// the system does not allow it, the test is skipped.
func Isolated(t *testing.T) bool {
	t.Helper()
	if slices.Contains(os.Args[1:], isolatedWord) {
		if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Skipf("nothing can be mounted here: %v", err)
		}
		return true
	}
	args := []string{"-test.run=^" + regexp.QuoteMeta(t.Name()) + "$", "-test.v"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], append(args, isolatedWord)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no process can have mounts and limits of its own here: %v", err)
	}
	err := cmd.Wait()
	switch {
	case err != nil:
		t.Errorf("isolated: %v\n%s", err, &out)
	case strings.Contains(out.String(), "--- SKIP"):
		t.Skipf("isolated:\n%s", &out)
	}
	return false
}
