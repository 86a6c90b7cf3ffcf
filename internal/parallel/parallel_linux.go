package parallel

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// processor is the number of a processor, -1 = unknown.
type processor int

// currentProcessor returns the processor of the calling thread.
func currentProcessor() processor {
	var cpu uint32
	if _, _, err := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); err != 0 {
		return -1
	}
	return processor(cpu)
}

// yield lets the threads that wait for this processor run, so that they can leave it.
func (processor) yield() { _, _, _ = unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// leave moves the calling thread to another processor if it runs on p. It forbids p for a
// moment, then allows it again, and the scheduler chooses the processor.
func (p processor) leave() {
	if p < 0 || currentProcessor() != p {
		return
	}
	runtime.LockOSThread()
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) == nil && all.IsSet(int(p)) && all.Count() > 1 {
		others := all
		others.Clear(int(p))
		if unix.SchedSetaffinity(0, &others) == nil && unix.SchedSetaffinity(0, &all) != nil {
			return // the thread stays locked: it ends with its goroutine, with its restriction
		}
	}
	runtime.UnlockOSThread()
}
