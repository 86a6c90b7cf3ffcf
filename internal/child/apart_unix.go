//go:build unix

package child

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group is a command and all processes that it starts: a session without a terminal. A process that
// begins a session of its own leaves it.
type group struct{}

func (group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func (group) add(*os.Process) {}

// ask asks the processes to end.
func (group) ask(leader *os.Process) error {
	err := syscall.Kill(-leader.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// kill ends the processes that are left. An error means that there are none.
func (group) kill(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

func (group) forget() {}
