package gittest

import "os"

// memory is the directory of shared memory on Linux.
const memory = "/dev/shm"

// memoryRoom is the number of bytes that have to be free there. The tests never hold 1 GiB at a
// time, and the defaults of cairn leave 1 GiB free.
const memoryRoom = 4 << 30

// InMemory lets os.TempDir, and with it t.TempDir, lie in memory where the system has room there.
// A TMPDIR that is set stays in force. Tests make and remove many small trees: ext4 without a
// journal takes twice the time for that, because it looks at every inode that was removed lately
// before it gives one out.
//
// A package calls it before its tests run, unless its tests are about what a file system does.
func InMemory() {
	if os.Getenv("TMPDIR") == "" && freeInMemory(memory) >= memoryRoom {
		os.Setenv("TMPDIR", memory)
	}
}
