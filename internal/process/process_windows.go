package process

import (
	"errors"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// space: there is one space of process ids.
func space() string { return "" }

// stillActive is the exit code of a process that has not ended (STILL_ACTIVE).
const stillActive = 259

// inspect opens the process. A number that is not there is refused as a wrong parameter.
func inspect(pid int) (about, State) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return about{}, Dead
	}
	if err != nil {
		return about{}, Unknown
	}
	defer windows.CloseHandle(h)
	var code uint32
	if err := windows.GetExitCodeProcess(h, &code); err == nil && code != stillActive {
		return about{}, Dead
	}
	var began, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &began, &ended, &kernel, &user) != nil {
		return about{}, Unknown
	}
	out := about{start: strconv.FormatInt(began.Nanoseconds(), 10)}
	out.parent, out.name = entry(uint32(pid))
	if out.parent > 0 && !older(uint32(out.parent), began) {
		out.parent = 0 // the parent is gone and its number was given to another process
	}
	return out, Alive
}

// entry finds the parent and the name of a process in a snapshot of all.
func entry(pid uint32) (parent int, name string) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return 0, ""
	}
	defer windows.CloseHandle(snapshot)
	e := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &e); err == nil; err = windows.Process32Next(snapshot, &e) {
		if e.ProcessID == pid {
			return int(e.ParentProcessID), windows.UTF16ToString(e.ExeFile[:])
		}
	}
	return 0, ""
}

// older reports whether a process began before a moment.
func older(pid uint32, than windows.Filetime) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	var began, ended, kernel, user windows.Filetime
	return windows.GetProcessTimes(h, &began, &ended, &kernel, &user) == nil && began.Nanoseconds() <= than.Nanoseconds()
}

// awake: a boot has no name here, so that the clock counts for nothing.
func awake() (time.Duration, bool) { return 0, false }

// args asks for the command line as one text, and takes it apart as programs do.
func args(pid int) []string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return nil
	}
	defer windows.CloseHandle(h)
	const most = 64<<10 + 16 // a text of 32,767 characters, and what says where it lies
	buf := make([]byte, most)
	var n uint32
	if windows.NtQueryInformationProcess(h, windows.ProcessCommandLineInformation, unsafe.Pointer(&buf[0]), most, &n) != nil {
		return nil
	}
	line := (*windows.NTUnicodeString)(unsafe.Pointer(&buf[0])).String()
	words, err := windows.DecomposeCommandLine(line)
	if err != nil {
		return nil
	}
	return words
}
