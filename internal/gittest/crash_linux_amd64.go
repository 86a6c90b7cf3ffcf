package gittest

import (
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

// legacyCalls are those that newer machines do without.
var legacyCalls = map[string]uint64{
	"rename": unix.SYS_RENAME, "unlink": unix.SYS_UNLINK, "mkdir": unix.SYS_MKDIR, "rmdir": unix.SYS_RMDIR,
	"symlink": unix.SYS_SYMLINK, "link": unix.SYS_LINK, "chmod": unix.SYS_CHMOD, "open": unix.SYS_OPEN,
	"creat": unix.SYS_CREAT, "renameat": unix.SYS_RENAMEAT,
}
