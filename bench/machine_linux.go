package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func cpuModel() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	return field(string(text), "model name")
}

func memoryBytes() int64 {
	text, _ := os.ReadFile("/proc/meminfo")
	number, _, _ := strings.Cut(field(string(text), "MemTotal"), " ")
	n, _ := strconv.ParseInt(number, 10, 64)
	return n << 10
}

func loadAverage() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	number, _, _ := strings.Cut(string(text), " ")
	load, _ := strconv.ParseFloat(number, 64)
	return load
}

// residentBytes is the memory that a process has in use now.
func residentBytes(pid int) int64 {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	number, _, _ := strings.Cut(field(string(text), "VmRSS"), " ")
	n, _ := strconv.ParseInt(number, 10, 64)
	return n << 10
}

func kernel() string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}

// fileSystem finds the mount that dir lies on: the one with the longest matching
// mount point, the later where two lie upon each other.
func fileSystem(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	text, _ := os.ReadFile("/proc/self/mountinfo")
	best, kind := -1, ""
	for line := range strings.Lines(string(text)) {
		before, after, ok := strings.Cut(line, " - ")
		fields, types := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(types) == 0 {
			continue
		}
		point := strings.TrimSuffix(fields[4], "/")
		if (dir == point || strings.HasPrefix(dir, point+"/")) && len(point) >= best {
			best, kind = len(point), types[0]
		}
	}
	return kind
}
