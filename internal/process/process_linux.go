package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// space names the PID namespace whose numbers /proc shows, "" where /proc is not there
// or shows another one than this process's own.
func space() string {
	self, err := os.Readlink("/proc/self")
	if err != nil || self != strconv.Itoa(os.Getpid()) {
		return ""
	}
	name, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return name
}

// inspect reads /proc/PID/stat. Where /proc hides the processes of others, a signal that
// is not sent tells whether there is one.
func inspect(pid int) (about, State) {
	if here().Space == "" {
		return about{}, Unknown
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		if unix.Kill(pid, 0) == unix.ESRCH {
			return about{}, Dead
		}
		return about{}, Unknown
	}
	return parseStat(data)
}

// parseStat reads a line "PID (NAME) STATE PPID ...", in which NAME may hold anything.
// The fields are those of proc(5): the start is number 22, in ticks since the boot.
func parseStat(data []byte) (about, State) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 0 || end < open {
		return about{}, Unknown
	}
	const first, ppid, start = 3, 4, 22 // first is the number of the field behind the name
	fields := strings.Fields(string(data[end+1:]))
	if len(fields) <= start-first {
		return about{}, Unknown
	}
	if state := fields[0]; state == "Z" || state == "X" {
		return about{}, Dead // only its exit status is left
	}
	parent, err := strconv.Atoi(fields[ppid-first])
	if err != nil {
		return about{}, Unknown
	}
	return about{parent: parent, start: fields[start-first], name: string(data[open+1 : end])}, Alive
}

// awake: CLOCK_MONOTONIC does not count the time in which the machine sleeps.
func awake() (time.Duration, bool) {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}

// args reads /proc/PID/cmdline, in which a NUL ends each word.
func args(pid int) []string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}
