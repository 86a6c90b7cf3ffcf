package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// deadGitAge is how old a temporary file of git's is that a collection removes. A git
// that is at work writes to its files, so theirs are younger.
const deadGitAge = 24 * time.Hour

// sweepGit removes what a killed git left in the store: temporary packs and their
// companions, temporary objects, and quarantines. Git has no claims on its files, so only
// their age tells that their writer is gone.
func (db *DB) sweepGit() error {
	before := time.Now().Add(-deadGitAge)
	dirs := []string{db.path("objects"), db.path(packDir)}
	for b, present := range db.listLooseDirs() {
		if present {
			dirs = append(dirs, db.path("objects", fmt.Sprintf("%02x", b)))
		}
	}
	var err error
	for _, dir := range dirs {
		err = errors.Join(err, sweepGitIn(dir, before))
	}
	return err
}

func sweepGitIn(dir string, before time.Time) error {
	names, err := readNames(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, serr := os.Lstat(path); serr == nil && isGitTemp(name, info) && info.ModTime().Before(before) {
			err = errors.Join(err, removeGitTemp(path, info))
		}
	}
	return err
}

// isGitTemp reports whether git makes temporary files, or directories, of that name.
func isGitTemp(name string, info fs.FileInfo) bool {
	switch {
	case strings.HasPrefix(name, pack.TempPrefix):
		return false
	case info.IsDir():
		return strings.HasPrefix(name, "tmp_objdir-")
	case !info.Mode().IsRegular():
		return false
	}
	return strings.HasPrefix(name, "tmp_") || strings.HasPrefix(name, ".tmp-")
}

func removeGitTemp(path string, info fs.FileInfo) error {
	if info.IsDir() {
		return ignoreInUse(os.RemoveAll(path))
	}
	return ignoreInUse(atomicfile.RemoveIfThere(path))
}
