package odb

import (
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// atOnce makes calls that wait for the disk at the same time.
func atOnce(calls ...func() error) error {
	return atomicfile.AtOnce(calls, func(call func() error) error { return call() })
}

// flush flushes files at the same time, unless the store does not flush.
func (db *DB) flush(files ...*os.File) error {
	if db.opt.NoSync {
		return nil
	}
	return atomicfile.AtOnce(files, (*os.File).Sync)
}

// syncDirs flushes directories at the same time, unless the store does not flush.
func (db *DB) syncDirs(dirs ...string) error {
	if db.opt.NoSync {
		return nil
	}
	return atomicfile.AtOnce(dirs, atomicfile.SyncDir)
}

// ordered reports whether two directories lie on one file system that keeps the order of renames:
// a flush makes durable everything that was renamed before it.
func ordered(a, b string) bool {
	first, ok := orderedDevice(a)
	if !ok {
		return false
	}
	second, ok := orderedDevice(b)
	return ok && first == second
}

// orderedDevice returns the device of a directory. ok is false if its file system does not keep
// the order of renames.
func orderedDevice(dir string) (uint64, bool) {
	d, err := atomicfile.OpenDir(dir)
	if err != nil {
		return 0, false
	}
	defer d.Close()
	return atomicfile.Ordered(d)
}
