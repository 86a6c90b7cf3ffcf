//go:build unix

package child

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// relayed lists the signals that would end this process, and the command with it or
// without it.
var relayed = []os.Signal{
	syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2,
}

// fromTerminal reports whether a signal is one that the terminal sends to its whole
// foreground group, and this process is in it. The command has it already then, and many
// agents take a second Ctrl-C for more than the first. A kill -INT of this process
// alone cannot be told from it; it is not passed on.
func (r *Relay) fromTerminal(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	tty, err := r.terminal()
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

func statusOf(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return signalled + int(ws.Signal())
	}
	return state.ExitCode()
}
