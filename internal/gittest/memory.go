package gittest

import (
	"os"
	"runtime/debug"
)

// memory is the directory of shared memory on Linux.
const memory = "/dev/shm"

// memoryRoom is the number of bytes that have to be free there. The tests never hold 1 GiB at a
// time, and the defaults of cairn leave 1 GiB free.
const memoryRoom = 4 << 30

// gcPercent lets garbage grow to four times the living heap, which is small in tests.
const gcPercent = 400

// Prepare makes the tests of a package cheaper. A TestMain calls it first, unless the tests are
// about what the disk does.
//
// os.TempDir, and with it t.TempDir, lies in memory where the system has room there. A TMPDIR that is
// set stays in force. Tests make and remove many small trees: ext4 without a journal takes twice
// the time for that, because it looks at every inode that was removed lately before it gives one
// out. Garbage is collected less often.
func Prepare() {
	if os.Getenv("TMPDIR") == "" && freeInMemory(memory) >= memoryRoom {
		os.Setenv("TMPDIR", memory)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
