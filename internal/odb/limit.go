package odb

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Limit makes the batch ask before it writes bytes to the disk. An error of allow ends
// the batch, and is wrapped by that of the method that wanted to write.
func (b *Batch) Limit(allow func(more int64) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.w.allow = allow
}

// Size returns how many bytes the files of the store have. One that vanishes while it
// is counted has none.
func (db *DB) Size() (total int64, err error) {
	err = filepath.WalkDir(db.dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				total += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return total, err
}
