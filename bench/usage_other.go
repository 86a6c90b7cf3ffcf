//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package main

import "os"

// Here nothing flushes all disks, and peak memory is not told: both are left out.

func flushDisks() {}

func peakOf(*os.ProcessState) int64 { return 0 }

func ownUsage() usage { return usage{} }

func allocated(info os.FileInfo) int64 { return info.Size() }
