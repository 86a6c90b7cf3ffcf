//go:build unix

package cairn_test

import (
	"syscall"
	"time"
)

// cpuTime is what this process has had of the processors, which a busy machine changes less
// than the clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
