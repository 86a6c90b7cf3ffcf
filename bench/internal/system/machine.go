package system

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/host"
	sysload "github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/process"
)

// Machine is what the times were measured on.
type Machine struct {
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

// DescribeMachine reads what the system tells. Trees lie in scratch; git is a program.
func DescribeMachine(scratch, git string) Machine {
	m := Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuModel(), Processors: runtime.GOMAXPROCS(0),
		MemoryBytes: memoryBytes(), Kernel: kernel(), FileSystem: fileSystem(scratch), Load: LoadAverage(), Go: runtime.Version(),
	}
	if out, err := exec.Command(git, "version").Output(); err == nil {
		m.Git = strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
	}
	return m
}

func (m Machine) String() string {
	parts := []string{fmt.Sprintf("%s, %d processors", OrUnknown(m.CPU), m.Processors)}
	if m.MemoryBytes > 0 {
		parts = append(parts, fmt.Sprintf("%d GB", m.MemoryBytes>>30))
	}
	parts = append(parts, fmt.Sprintf("%s/%s %s", m.OS, m.Arch, m.Kernel))
	if m.FileSystem != "" {
		parts = append(parts, m.FileSystem)
	}
	return strings.Join(append(parts, m.Go, "git "+m.Git), "; ")
}

// OrUnknown names a processor.
func OrUnknown(s string) string {
	if s == "" {
		return "unknown processor"
	}
	return s
}

// What the system does not tell is left empty.

func cpuModel() string {
	if list, err := cpu.Info(); err == nil && len(list) > 0 {
		return list[0].ModelName
	}
	return ""
}

func memoryBytes() int64 {
	if all, err := mem.VirtualMemory(); err == nil {
		return int64(all.Total)
	}
	return 0
}

// LoadAverage is that of the last minute, 0 where the system has none.
func LoadAverage() float64 {
	if average, err := sysload.Avg(); err == nil {
		return average.Load1
	}
	return 0
}

// ResidentBytes is the memory that a process has in use now.
func ResidentBytes(pid int) int64 {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return 0
	}
	if memory, err := p.MemoryInfo(); err == nil {
		return int64(memory.RSS)
	}
	return 0
}

// CPUSeconds is the processor time that a process has used, 0 where the system does not tell.
func CPUSeconds(pid int) float64 {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return 0
	}
	times, err := p.Times()
	if err != nil {
		return 0
	}
	return times.User + times.System
}

func kernel() string {
	version, _ := host.KernelVersion()
	return version
}

// fileSystem finds the mount that dir lies on: the one with the longest matching mount
// point, the later where two share a directory.
func fileSystem(dir string) (kind string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	mounts, _ := disk.Partitions(true)
	best := -1
	for _, m := range mounts {
		point := strings.TrimSuffix(m.Mountpoint, string(filepath.Separator))
		if (dir == point || strings.HasPrefix(dir, point+string(filepath.Separator))) && len(point) >= best {
			best, kind = len(point), m.Fstype
		}
	}
	return kind
}

// FreeSpace is how many bytes this user may still write to the disk of dir.
func FreeSpace(dir string) (int64, error) {
	usage, err := disk.Usage(dir)
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return int64(usage.Free), nil
}
