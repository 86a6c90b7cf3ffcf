package history

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// DiskState is the disk as a capture found it.
type DiskState struct {
	state.State
	Index   *index.Index
	Entries func(dir string, tree object.ID) []object.Entry // entries of a tree that the capture has in memory, else nil
}
