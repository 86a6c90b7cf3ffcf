package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushData waits until the contents of a file are on the disk, without its times.
func flushData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
