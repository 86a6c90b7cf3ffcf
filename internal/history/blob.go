package history

import (
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// DefaultMaxDiffSize is the size in bytes above which a file is not compared line by line.
const DefaultMaxDiffSize = 16 << 20

// BlobSize returns the size in bytes of the entry's blob, 0 for a directory, a gitlink or nil.
func (r *Store) BlobSize(e *object.Entry) (int64, error) {
	if e == nil || e.Mode == object.Gitlink || e.Mode == object.Dir {
		return 0, nil
	}
	_, size, err := r.DB.Stat(e.ID)
	if err != nil {
		return 0, fmt.Errorf("blob %s (%s): %w", e.ID, e.Name, err)
	}
	return size, nil
}

// Blob reads the entry's blob. It returns nil for a directory, a gitlink or nil.
func (r *Store) Blob(e *object.Entry) ([]byte, error) {
	if e == nil || e.Mode == object.Gitlink || e.Mode == object.Dir {
		return nil, nil
	}
	kind, data, err := r.DB.Read(e.ID)
	if err == nil && kind != object.Blob {
		err = fmt.Errorf("%w: a %s instead of a blob", state.ErrCorrupt, kind)
	}
	if err != nil {
		return nil, fmt.Errorf("blob %s (%s): %w", e.ID, e.Name, err)
	}
	return data, nil
}

// ChangeBetween returns the change of a path between two ends.
func ChangeBetween(path string, from, to PathEnd) Change {
	c := Change{Path: path, Status: Modified}
	if from.Entry == nil {
		c.Status = Added
	} else {
		c.OldMode, c.OldPerm, c.OldID = uint32(from.Entry.Mode), from.bits(), from.Entry.ID.String()
	}
	if to.Entry == nil {
		c.Status = Deleted
	} else {
		c.NewMode, c.NewPerm, c.NewID = uint32(to.Entry.Mode), to.bits(), to.Entry.ID.String()
	}
	return c
}

// bits returns the permission bits, 0 for a symlink.
func (a PathEnd) bits() uint16 {
	if a.Entry.Mode == object.Symlink {
		return 0
	}
	return a.Perm
}
