package sshsig

import (
	"os/exec"
	"syscall"
)

// createNoWindow keeps a program from the console, as CREATE_NO_WINDOW of Windows.
const createNoWindow = 0x08000000

// alone gives cmd no console to ask at.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | createNoWindow}
}
