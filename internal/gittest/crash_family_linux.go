package gittest

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// waitFamily returns the next event of any process that this thread traces. The thread may have
// other children, of other tests: their events are left to those. known are threads that it traces.
func waitFamily(known map[int]bool) (int, syscall.WaitStatus, error) {
	for {
		pid, err := nextEvent()
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, 0, err
		case !known[pid] && !isTraced(pid):
			time.Sleep(time.Millisecond) // until the other test has taken it
			continue
		}
		// A killed thread takes its stop away meanwhile. Its end may have to wait for another thread's.
		var status syscall.WaitStatus
		got, err := syscall.Wait4(pid, &status, unix.WALL|unix.WNOHANG, nil)
		if err != syscall.EINTR && (err != nil || got != 0) {
			return got, status, err
		}
	}
}

// nextEvent names the child of this thread with an event, and leaves the event where it is.
func nextEvent() (int, error) {
	var info [128]byte // siginfo_t, with si_pid behind three numbers and a gap
	err := unix.Waitid(unix.P_ALL, 0, (*unix.Siginfo)(unsafe.Pointer(&info)), unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT|unix.WALL|unix.WNOTHREAD, nil)
	return int(*(*int32)(unsafe.Pointer(&info[16]))), err
}

// isTraced reports whether this thread traces another one.
func isTraced(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && bytes.Contains(status, fmt.Appendf(nil, "\nTracerPid:\t%d\n", unix.Gettid()))
}
