package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// machine is what the times were measured on.
type machine struct {
	OS          string  `json:"os"`
	Arch        string  `json:"arch"`
	CPU         string  `json:"cpu"`
	Processors  int     `json:"processors"` // that Go uses
	MemoryBytes int64   `json:"memoryBytes,omitempty"`
	Kernel      string  `json:"kernel,omitempty"`
	FileSystem  string  `json:"fileSystem,omitempty"` // of trees and stores
	Load        float64 `json:"load,omitempty"`       // average of the last minute, at the beginning
	Go          string  `json:"go"`
	Git         string  `json:"git"`
}

func describeMachine(scratch, git string) machine {
	m := machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuModel(), Processors: runtime.GOMAXPROCS(0),
		MemoryBytes: memoryBytes(), Kernel: kernel(), FileSystem: fileSystem(scratch), Load: loadAverage(), Go: runtime.Version(),
	}
	if out, err := exec.Command(git, "version").Output(); err == nil {
		m.Git = strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
	}
	return m
}

func (m machine) String() string {
	parts := []string{fmt.Sprintf("%s, %d processors", orUnknown(m.CPU), m.Processors)}
	if m.MemoryBytes > 0 {
		parts = append(parts, fmt.Sprintf("%d GB", m.MemoryBytes>>30))
	}
	parts = append(parts, fmt.Sprintf("%s/%s %s", m.OS, m.Arch, m.Kernel))
	if m.FileSystem != "" {
		parts = append(parts, m.FileSystem)
	}
	return strings.Join(append(parts, m.Go, "git "+m.Git), "; ")
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown processor"
	}
	return s
}

// field returns the value of the first "key: value" line, or of "key value".
func field(text, key string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			return strings.TrimSpace(strings.TrimLeft(rest, " \t:"))
		}
	}
	return ""
}
