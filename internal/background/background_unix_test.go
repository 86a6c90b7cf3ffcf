//go:build unix

package background

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestStartLeavesNoProcess: a process that has ended is gone, also while its parent goes on.
func TestStartLeavesNoProcess(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("NOT TESTED: there is no shell")
	}
	file := filepath.Join(t.TempDir(), "pid")
	ended, err := start(sh, "sh", []string{"-c", `echo $$ > "$0"`, file})
	if err != nil {
		t.Fatal(err)
	}
	<-ended
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d: %v", pid, err)
	}
}
