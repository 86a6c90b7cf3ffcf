//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package system

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// FlushDisks waits until everything written so far has reached the disks, so that one
// contender's writing does not slow the next one down.
func FlushDisks() { unix.Sync() }

// peakOf returns the peak resident memory of an ended process in bytes. Linux includes the memory
// of the starting process (the worker, some 10 MB), because the child had that for an instant.
func peakOf(state *os.ProcessState) int64 {
	ru, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return maxRSS(int64(ru.Maxrss))
}

// maxRSS turns the kernel's number into bytes: only Darwin counts in bytes.
func maxRSS(n int64) int64 {
	if runtime.GOOS == "darwin" {
		return n
	}
	return n << 10
}

// OwnUsage is what this process has used since it began.
func OwnUsage() Usage {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		return Usage{}
	}
	return Usage{
		CPUSeconds: float64(ru.Utime.Nano()+ru.Stime.Nano()) / 1e9,
		PeakBytes:  maxRSS(int64(ru.Maxrss)),
	}
}

// Links names a file whatever its name, and tells how many names it has.
func Links(info os.FileInfo) (id FileID, links uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return FileID{uint64(st.Dev), uint64(st.Ino)}, uint64(st.Nlink)
	}
	return FileID{}, 1
}

// Allocated is the disk space of a file.
func Allocated(info os.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}
