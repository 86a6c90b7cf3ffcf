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

// TestStartLeavesNoProcess: a process has its environment, and once it has ended it is gone, also while its parent goes
// on.
func TestStartLeavesNoProcess(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("NOT TESTED: there is no shell")
	}
	file := filepath.Join(t.TempDir(), "pid")
	ended, err := start(sh, "sh", []string{"VALUE=1"}, []string{"-c", `echo $$ $VALUE > "$0"`, file})
	if err != nil {
		t.Fatal(err)
	}
	<-ended
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	number, value, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	pid, err := strconv.Atoi(number)
	if err != nil || value != "1" {
		t.Fatalf("%q: %v", text, err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d: %v", pid, err)
	}
}
