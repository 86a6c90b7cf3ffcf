package odb

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Limit makes the batch ask allow before it writes bytes to the disk. After an error of allow the
// batch writes no more bytes. It goes on to ask, and Commit fails with the last error, when allow
// has heard of every byte. A negative number takes back bytes that allow has refused and that the
// batch does not need.
func (b *Batch) Limit(allow func(more int64) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.w.Allow = allow
}

// Size is Measure without refs, for the budget of a capture: a store may have thousands of refs,
// of 41 bytes each.
func (db *DB) Size() (int64, error) {
	size, _, err := measure(db.dir, db.path("refs"))
	return size, err
}

// Measure returns the size and the number of the files of the store in dir. A borrowed pack that
// the lender still has takes no room. Another process may be changing the store, so a file that
// vanishes counts nothing.
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

// takesNoRoom reports whether a file counts nothing in Measure: a borrowed pack that the lender
// still has, a removed pack that a process on Windows has open, or a pack that is being made. A
// cleaning needs room for a while and gives it back.
func takesNoRoom(path string) bool {
	if strings.HasPrefix(filepath.Base(path), pack.TempPrefix) {
		return true
	}
	ext := filepath.Ext(path)
	return (ext == pack.Ext || ext == pack.IndexExt) && links(path) > 1 && isBorrowed(strings.TrimSuffix(path, ext))
}
