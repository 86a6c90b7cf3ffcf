//go:build !linux

package atomicfile

import (
	"os"
	"time"
)

// OneMount reports whether two directories are known to lie on one mount of one file
// system, so that files can be renamed from one to the other.
func OneMount(a, b string) bool { return false }

// DirsMayStampFinely reports whether that is known of the directories of a file system.
func DirsMayStampFinely(dir string) bool { return false }

// StampsFinely tells what is known of the file system of f.
func StampsFinely(f *os.File) Fine { return Fine{} }

// Tick is the time that a change would be stamped with if stamps go by the ticks of the
// kernel, zero if nobody knows.
func Tick() time.Time { return time.Time{} }
