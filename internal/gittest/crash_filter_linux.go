package gittest

import (
	"encoding/binary"
	"maps"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// A filter of system calls (seccomp(2)) lets a traced program stop at the chosen calls only. Without one
// it stops at every call, twice: a run of git makes hundreds of them, of which few write. The filter is
// inherited by all that the program starts, and a call that it chooses fails in a process without a
// tracer. So a tracer with a filter follows every process for as long as it lives.

// noFilter is a variable of the environment that has every call stop a program, as where there is no filter.
const noFilter = "GITTEST_NO_FILTER"

// filterCalls puts the filter into a program that has stopped at its start. It reports false where the
// machine, or the system, has no such filters: the program is as before then.
func filterCalls(pid int, numbers map[uint64]string) bool {
	if auditArch == 0 || os.Getenv(noFilter) != "" {
		return false
	}
	errno, err := inject(pid, filterProgram(numbers))
	return err == nil && errno == 0
}

// filterProgram is the code of the filter, as an array of struct sock_filter.
func filterProgram(numbers map[uint64]string) []byte {
	calls := slices.Sorted(maps.Keys(numbers))
	code := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 4}, // seccomp_data.arch
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: auditArch, Jf: uint8(len(calls) + 1)},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // seccomp_data.nr
	}
	for i, nr := range calls {
		code = append(code, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(nr), Jt: uint8(len(calls) - i)})
	}
	code = append(code, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_TRACE})
	var b []byte
	for _, c := range code {
		b = binary.NativeEndian.AppendUint16(b, c.Code)
		b = append(b, c.Jt, c.Jf)
		b = binary.NativeEndian.AppendUint32(b, c.K)
	}
	return b
}

// filterStop handles a thread that is about to make a call that the filter chooses.
func (tr *tracer) filterStop(tid int) error {
	nr, arg, _, err := syscallInfo(tid)
	if err != nil {
		return gone(err)
	}
	call, ok := tr.numbers[nr]
	if !ok || !tr.judges(tid) || wakesItself(tid, call, arg) {
		return tr.resume(tid, 0)
	}
	switch v := tr.judge(call); {
	case v.kill:
		tr.killAll()
		return nil
	case v.errno != 0:
		if err := failCall(tid, v.errno); err != nil {
			return gone(err)
		}
	}
	return tr.resume(tid, 0)
}

// judges reports whether the calls of a thread count: those of a process that the program has started
// do in a family only.
func (tr *tracer) judges(tid int) bool {
	return tr.family || unix.Tgkill(tr.pid, tid, 0) == nil
}

// serve lets the processes that the program has left behind go on until their end.
func (tr *tracer) serve() {
	tr.judge = func(string) verdict { return goOn }
	for len(tr.known) > 0 {
		if err := tr.step(); err == syscall.ECHILD {
			return
		}
	}
}
