package odb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// Size is Measure without refs and without the objects of the user's git repository, for the budget
// of a capture: a store may have thousands of these files. The objects have a limit of their own.
func (db *DB) Size() (int64, error) {
	size, _, err := measure(db.dir, db.path("refs"), db.PrivatePath(KeptDir))
	return size, err
}

// Measure returns the size and the number of the files of the store in dir. A borrowed pack that
// the lender still has takes no room. Another process may be changing the store, so a file that
// vanishes counts nothing.
func Measure(dir string) (size int64, files int, err error) { return measure(dir) }

func measure(dir string, without ...string) (size int64, files int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains(without, path) {
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

// takesNoRoom reports whether a file counts nothing in Measure: a borrowed pack, or a kept object,
// that the lender still has, a removed pack that a process on Windows has open, or a pack that is being made. A
// cleaning needs room for a while and gives it back.
func takesNoRoom(path string) bool {
	if strings.HasPrefix(filepath.Base(path), pack.TempPrefix) {
		return true
	}
	if dir, ok := strings.CutSuffix(filepath.Dir(filepath.Dir(path)), keptObjects); ok {
		return lentOut(path) || sameFile(path, filepath.Join(dir, packDir, filepath.Base(path)))
	}
	ext := filepath.Ext(path)
	return (ext == pack.Ext || ext == pack.IndexExt) && lentOut(path) && isBorrowed(strings.TrimSuffix(path, ext))
}

// keptObjects is the end of the path of the objects of the user's git repository.
var keptObjects = filepath.Join(string(filepath.Separator)+privateDir, KeptDir, "objects")

// lentOut reports whether a file has a name outside of this store. A pack may have two names in the
// store: among its own, and among the objects of the user's git repository.
func lentOut(path string) bool {
	own := 1
	dir := filepath.Dir(path)
	if store, ok := strings.CutSuffix(filepath.Dir(dir), keptObjects); ok && sameFile(path, filepath.Join(store, packDir, filepath.Base(path))) {
		own = 2
	} else if store, ok := strings.CutSuffix(dir, string(filepath.Separator)+packDir); ok && sameFile(path, filepath.Join(store, keptObjects, "pack", filepath.Base(path))) {
		own = 2
	}
	return links(path) > own
}

func sameFile(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	return err == nil && os.SameFile(x, y)
}
