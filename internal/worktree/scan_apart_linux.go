package worktree

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// processor is where the first goroutine of a scan runs, -1 = not known. The others begin
// elsewhere.
//
// The kernel puts a thread that it wakes on a processor that has nothing to do, or so it
// means to. One of a virtual machine that has given its time back to the host does not
// count as such, and all threads of a scan would share one processor until the next tick of
// the clock, 4 ms or more. A small tree is scanned by then.
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
