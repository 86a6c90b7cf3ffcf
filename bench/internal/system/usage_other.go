//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package system

import "os"

// Here nothing flushes all disks, and peak memory is not told: both are left out.

func FlushDisks() {}

func peakOf(*os.ProcessState) int64 { return 0 }

func OwnUsage() Usage { return Usage{} }

func Links(os.FileInfo) (id FileID, links uint64) { return FileID{}, 1 }

func Allocated(info os.FileInfo) int64 { return info.Size() }
