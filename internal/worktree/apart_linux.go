package worktree

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// processor is where the caller of Apart runs, -1 = not known.
type processor int

func thisProcessor() processor {
	var cpu uint32
	if _, _, err := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); err != 0 {
		return -1
	}
	return processor(cpu)
}

// makeWay lets those run that wait for this processor, among them who is to leave it.
func (processor) makeWay() { _, _, _ = unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// leave moves the calling thread to another processor if it is on p, and leaves open where
// it goes from there: for a moment p is none of those that it may run on.
func (p processor) leave() {
	if p < 0 || thisProcessor() != p {
		return
	}
	runtime.LockOSThread()
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) == nil && all.IsSet(int(p)) && all.Count() > 1 {
		others := all
		others.Clear(int(p))
		if unix.SchedSetaffinity(0, &others) == nil && unix.SchedSetaffinity(0, &all) != nil {
			return // a thread that could not be set free ends with its goroutine
		}
	}
	runtime.UnlockOSThread()
}
