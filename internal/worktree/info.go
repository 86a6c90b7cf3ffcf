package worktree

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// fileStat is what one lstat tells.
type fileStat struct {
	mode object.Mode // 0 for sockets, FIFOs and devices
	perm uint16
	stat index.Stat
}

// dirStat is what an open directory tells of itself.
type dirStat struct {
	perm   uint16
	device uint64
	stat   index.Stat
}
