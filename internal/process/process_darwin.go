package process

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// space: there is one space of process ids.
func space() string { return "" }

// zombie is the state of a process of which only the exit status is left (SZOMB).
const zombie = 5

// inspect asks for kern.proc.pid. For a number without a process the system answers with
// nothing, which is EIO.
func inspect(pid int) (about, State) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		if unix.Kill(pid, 0) == unix.ESRCH {
			return about{}, Dead
		}
		return about{}, Unknown
	}
	if int(info.Proc.P_pid) != pid || info.Proc.P_stat == zombie {
		return about{}, Dead
	}
	began := info.Proc.P_starttime
	return about{
		parent: int(info.Eproc.Ppid),
		start:  strconv.FormatInt(began.Nano(), 10),
		name:   unix.ByteSliceToString(info.Proc.P_comm[:]),
	}, Alive
}

// awake: CLOCK_UPTIME_RAW does not count the time in which the machine sleeps.
func awake() (time.Duration, bool) {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_UPTIME_RAW, &ts) != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}

// args asks for kern.procargs2: the number of the words, the path of the program, the words, and then the
// environment, which is passed over.
func args(pid int) []string {
	data, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil
	}
	return parseProcArgs(data)
}
