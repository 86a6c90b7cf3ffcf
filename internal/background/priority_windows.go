package background

import "syscall"

const belowNormal = 0x4000 // BELOW_NORMAL_PRIORITY_CLASS

// GiveWay lowers the priority of this process and of the processes that it will start.
func GiveWay() {
	process, err := syscall.GetCurrentProcess()
	if err == nil {
		// A failure costs others some time.
		_, _, _ = syscall.NewLazyDLL("kernel32.dll").NewProc("SetPriorityClass").Call(uintptr(process), belowNormal)
	}
}
