package pager

import (
	"errors"
	"os/exec"
	"syscall"
)

// shell runs the text of a command.
var shell = []string{"cmd", "/c"}

// asTyped gives a line to the shell as it is: cmd.exe does not know the backslashes by which Go keeps quotes
// in an argument.
func asTyped(cmd *exec.Cmd) {
	if len(cmd.Args) == 3 {
		cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /s /c "` + cmd.Args[2] + `"`}
	}
}

// noReader is ERROR_NO_DATA: the other end of a pipe is being closed.
const noReader = syscall.Errno(232)

// isBroken reports whether a pipe has no reader.
func isBroken(err error) bool {
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, noReader)
}
