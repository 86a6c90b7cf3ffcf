//go:build unix

package git

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// killGroup makes cmd the leader of a process group, and cancelling it kill that
// group: git does most of its work in children.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
