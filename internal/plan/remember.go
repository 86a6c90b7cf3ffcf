package plan

import (
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// rememberingDisk answers questions about paths of one directory, asked one after the other, with few looks
// at the disk. The disk may change meanwhile: before a path is changed, it is looked at again.
type rememberingDisk struct {
	Disk

	path  string // of the last answer
	found *dir.Found
	asked bool

	gone  string // a directory that is not there, so nothing below it is; "" for none
	there string // a directory that is, although a path below it is not
}

// Find implements Disk.
func (d *rememberingDisk) Find(path string) (*dir.Found, error) {
	switch {
	case d.asked && path == d.path:
		return d.found, nil
	case d.gone != "" && isBelow(path, d.gone):
		return nil, nil
	}
	found, err := d.Disk.Find(path)
	if err != nil {
		return nil, err
	}
	d.path, d.found, d.asked = path, found, true
	if parent, _ := index.Split(path); found == nil && parent != "" && parent != d.there {
		if at, err := d.Disk.Find(parent); err == nil && at == nil {
			d.gone = parent
		} else {
			d.there = parent
		}
	}
	return found, nil
}
