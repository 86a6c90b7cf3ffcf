//go:build unix

package sshsig

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// alone gives cmd no terminal to ask at. Cancelling kills the processes that it has started, too.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
