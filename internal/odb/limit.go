package odb

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// Limit makes the batch ask before it writes bytes to the disk. An error of allow ends
// the batch, and is wrapped by that of the method that wanted to write.
func (b *Batch) Limit(allow func(more int64) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.w.allow = allow
}

// Size returns how many bytes the files of the store take, see Measure, but for refs:
// there may be thousands, of 41 bytes each.
func (db *DB) Size() (int64, error) {
	size, _, err := measure(db.dir, db.path("refs"))
	return size, err
}

// Measure sums the sizes of the files of the store in dir, and counts them. A borrowed
// pack that the lender has, too, takes no room. Another process may be changing the
// store, so a file that vanishes counts nothing.
func Measure(dir string) (size int64, files int, err error) { return measure(dir, "") }

func measure(dir, without string) (size int64, files int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if path == without && err == nil && d.IsDir() {
			return filepath.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				files++
				if !takesNoRoom(path) {
					size += info.Size()
				}
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return size, files, err
}

// takesNoRoom reports whether a file belongs to a borrowed pack that the lender has, too,
// or to a pack that is gone but for somebody who has it open (on Windows).
func takesNoRoom(path string) bool {
	if strings.HasPrefix(filepath.Base(path), gonePrefix) {
		return true
	}
	ext := filepath.Ext(path)
	return (ext == packExt || ext == idxExt) && links(path) > 1 && isBorrowed(strings.TrimSuffix(path, ext))
}
