package dir

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Info is the result of one lstat.
type Info struct {
	Mode object.Mode // 0 for sockets, FIFOs and devices
	Perm uint16
	Stat index.Stat

	Linked bool // a file with further names (hard links); false where the system does not tell
}

// HandleInfo is the result of an fstat of an open directory.
type HandleInfo struct {
	Perm   uint16
	Device uint64
	Stat   index.Stat
}
