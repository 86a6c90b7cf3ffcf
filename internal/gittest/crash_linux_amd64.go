package gittest

import (
	"encoding/binary"
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// skipCall makes the call that a thread is entering one that does not exist.
func skipCall(tid int) error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	regs.Orig_rax = ^uint64(0)
	return unix.PtraceSetRegs(tid, &regs)
}

// setResult makes the call that a thread is leaving fail.
func setResult(tid int, errno syscall.Errno) error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	regs.Rax = -uint64(errno)
	return unix.PtraceSetRegs(tid, &regs)
}

// failCall makes a call that the filter has chosen fail: it is skipped, and its result is in place.
func failCall(tid int, errno syscall.Errno) error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	regs.Orig_rax, regs.Rax = ^uint64(0), -uint64(errno)
	return unix.PtraceSetRegs(tid, &regs)
}

// auditArch is how a filter knows this machine.
const auditArch = unix.AUDIT_ARCH_X86_64

// inject has a program that has stopped at its start install a filter, and puts its registers, its code
// and its stack back. errno is the answer of seccomp(2).
func inject(pid int, filter []byte) (errno syscall.Errno, err error) {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(pid, &regs); err != nil {
		return 0, err
	}
	pc, free := uintptr(regs.Rip), uintptr(regs.Rsp-4096)&^15
	code := make([]byte, 2)
	if _, err := unix.PtracePeekText(pid, pc, code); err != nil {
		return 0, err
	}
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(filter)/8)) // struct sock_fprog: number, gap, address
	head = binary.LittleEndian.AppendUint64(head, uint64(free)+16)
	before := make([]byte, 16+len(filter))
	_, err = unix.PtracePeekData(pid, free, before)
	_, err2 := unix.PtracePokeData(pid, free, append(head, filter...))
	_, err3 := unix.PtracePokeText(pid, pc, []byte{0x0f, 0x05}) // the instruction syscall
	if err = errors.Join(err, err2, err3); err == nil {
		_, err = injectCall(pid, regs, unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0) // or only root may have filters
	}
	if err == nil {
		errno, err = injectCall(pid, regs, unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uint64(free))
	}
	_, err2 = unix.PtracePokeText(pid, pc, code)
	_, err3 = unix.PtracePokeData(pid, free, before)
	return errno, errors.Join(err, err2, err3, unix.PtraceSetRegs(pid, &regs))
}

// injectCall makes one call in the program, whose next instruction is syscall.
func injectCall(pid int, regs unix.PtraceRegs, nr, a, b, c uint64) (syscall.Errno, error) {
	regs.Rax, regs.Orig_rax = nr, ^uint64(0)
	regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8 = a, b, c, 0, 0
	if err := unix.PtraceSetRegs(pid, &regs); err != nil {
		return 0, err
	}
	if err := unix.PtraceSingleStep(pid); err != nil {
		return 0, err
	}
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(pid, &status, unix.WALL, nil); err != syscall.EINTR {
			break
		}
	}
	if !status.Stopped() || status.StopSignal() != syscall.SIGTRAP {
		return 0, errors.New("the program does not stop after a call")
	}
	err := unix.PtraceGetRegs(pid, &regs)
	return syscall.Errno(-int64(regs.Rax)), err
}

// legacyCalls are those that newer machines do without.
var legacyCalls = map[string]uint64{
	"rename": unix.SYS_RENAME, "unlink": unix.SYS_UNLINK, "mkdir": unix.SYS_MKDIR, "rmdir": unix.SYS_RMDIR,
	"symlink": unix.SYS_SYMLINK, "link": unix.SYS_LINK, "chmod": unix.SYS_CHMOD, "open": unix.SYS_OPEN,
	"creat": unix.SYS_CREAT, "renameat": unix.SYS_RENAMEAT,
}
