package odb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
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

// Size is Measure without refs, without loose objects and without the objects of the user's git
// repository, for the budget of a capture: a store may have thousands of these files. The objects of
// the repository have a limit of their own, and a cleaning packs the loose ones.
func (db *DB) Size() (int64, error) {
	without := []string{db.path("refs"), db.PrivatePath(KeptDir)}
	for b := range 256 {
		without = append(without, db.path("objects", object.ID{byte(b)}.String()[:2]))
	}
	size, _, err := measure(db.dir, without...)
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
				if !isUncounted(path) {
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

// isUncounted reports whether a file counts nothing in Measure: a borrowed pack, a loose object, or a
// kept object that the lender still has, a removed pack that a process on Windows has open, or a pack
// that is being made. A cleaning needs room for a while and gives it back.
func isUncounted(path string) bool {
	if strings.HasPrefix(filepath.Base(path), pack.TempPrefix) {
		return true
	}
	if dir, ok := strings.CutSuffix(filepath.Dir(filepath.Dir(path)), keptObjects); ok {
		return lentOut(path) || sameFile(path, filepath.Join(dir, "objects", within(path)))
	}
	if isLoose(path) {
		return lentOut(path)
	}
	ext := filepath.Ext(path)
	return (ext == pack.Ext || ext == pack.IndexExt) && lentOut(path) && isBorrowed(strings.TrimSuffix(path, ext))
}

// keptObjects is the end of the path of the objects of the user's git repository.
var keptObjects = filepath.Join(string(filepath.Separator)+privateDir, KeptDir, "objects")

// lentOut reports whether a file has a name outside of this store. A pack or a loose object may have
// two names in the store: among its own, and among the objects of the user's git repository.
func lentOut(path string) bool {
	n := links(path)
	if n < 2 {
		return false
	}
	objects := filepath.Dir(filepath.Dir(path))
	other := filepath.Join(strings.TrimSuffix(objects, "objects"), keptObjects, within(path))
	if store, ok := strings.CutSuffix(objects, keptObjects); ok {
		other = filepath.Join(store, "objects", within(path))
	}
	return n > 2 || !sameFile(path, other)
}

// within returns the path of a pack or a loose object from the directory of objects.
func within(path string) string {
	return filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
}

func sameFile(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	return err == nil && os.SameFile(x, y)
}
