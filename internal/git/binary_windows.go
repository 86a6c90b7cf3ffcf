package git

import (
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// killGroup keeps the console's interrupt from cmd, and makes cancelling it end the
// processes that descend from it too: git does most of its work in children.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
	}
	cmd.Cancel = func() error {
		descendants := processesBelow(uint32(cmd.Process.Pid))
		err := cmd.Process.Kill()
		for _, pid := range descendants {
			terminate(pid)
		}
		return err
	}
}

// processesBelow lists the processes that descend from pid, as far as they can be
// listed, nearest first.
func processesBelow(pid uint32) []uint32 {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(snapshot)
	children := make(map[uint32][]uint32)
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		if entry.ProcessID != entry.ParentProcessID {
			children[entry.ParentProcessID] = append(children[entry.ParentProcessID], entry.ProcessID)
		}
	}
	below := []uint32{pid}
	for i := 0; i < len(below); i++ {
		below = append(below, children[below[i]]...)
		delete(children, below[i]) // reused numbers could make a circle
	}
	return below[1:]
}

func terminate(pid uint32) {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return
	}
	defer windows.CloseHandle(h)
	_ = windows.TerminateProcess(h, 1)
}
