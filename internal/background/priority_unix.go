//go:build unix

package background

import "syscall"

// niceness leaves the processors to others.
const niceness = 10

// GiveWay lowers the priority of a process that Start has started, and of the processes that it will start. In
// another process it does nothing: a group of processes may be a shell's job.
func GiveWay() {
	if syscall.Getpgrp() == syscall.Getpid() {
		// A failure costs others some time.
		_ = syscall.Setpriority(syscall.PRIO_PGRP, 0, niceness)
	}
}
