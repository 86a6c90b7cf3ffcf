package odb

import (
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// ordered reports whether two directories lie on one file system that keeps the order
// of renames: what a flush makes durable comes with all that was renamed before it.
func ordered(a, b string) bool {
	first, ok := orderedDevice(a)
	if !ok {
		return false
	}
	second, ok := orderedDevice(b)
	return ok && first == second
}

func orderedDevice(dir string) (uint64, bool) {
	d, err := atomicfile.OpenDir(dir)
	if err != nil {
		return 0, false
	}
	defer d.Close()
	return atomicfile.Ordered(d)
}
