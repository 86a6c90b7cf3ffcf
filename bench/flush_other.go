//go:build !linux

package main

import "os"

// flushData waits until a file is on the disk.
func flushData(f *os.File) error { return f.Sync() }
