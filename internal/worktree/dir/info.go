package dir

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Info is what one lstat tells.
type Info struct {
	Mode object.Mode // 0 for sockets, FIFOs and devices
	Perm uint16
	Stat index.Stat
}

// HandleInfo is what an open directory tells of itself.
type HandleInfo struct {
	Perm   uint16
	Device uint64
	Stat   index.Stat
}
