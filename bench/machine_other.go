//go:build !linux

package main

import (
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Elsewhere the system's own programs are asked. What they do not tell stays empty.

func cpuModel() string {
	if runtime.GOOS == "darwin" {
		return ask("sysctl", "-n", "machdep.cpu.brand_string")
	}
	return ask("sysctl", "-n", "hw.model")
}

func memoryBytes() int64 {
	key := "hw.physmem"
	if runtime.GOOS == "darwin" {
		key = "hw.memsize"
	}
	n, _ := strconv.ParseInt(ask("sysctl", "-n", key), 10, 64)
	return n
}

// loadAverage reads "{ 1.23 1.10 0.98 }".
func loadAverage() float64 {
	fields := strings.Fields(strings.Trim(ask("sysctl", "-n", "vm.loadavg"), "{} "))
	if len(fields) == 0 {
		return 0
	}
	load, _ := strconv.ParseFloat(fields[0], 64)
	return load
}

// residentBytes is the memory that a process has in use now.
func residentBytes(pid int) int64 {
	n, _ := strconv.ParseInt(ask("ps", "-o", "rss=", "-p", strconv.Itoa(pid)), 10, 64)
	return n << 10
}

func kernel() string { return ask("uname", "-r") }

// fileSystem takes the type from stat, where stat tells it.
func fileSystem(dir string) string {
	if runtime.GOOS == "darwin" {
		return ask("stat", "-f", "%T", dir)
	}
	return ""
}

func ask(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
