package collect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// deadGitAge is the age from which a temporary file of git's counts as left behind. A running git
// writes to its files, so they are younger.
const deadGitAge = 24 * time.Hour

// sweepGit removes the files that a killed git left in the store: temporary packs and their
// companions, temporary objects, and quarantines. Git makes no claims on its files, so only their
// age tells that their writer is gone.
func sweepGit(db *odb.DB) error {
	before := time.Now().Add(-deadGitAge)
	var err error
	for _, dir := range db.ObjectDirs() {
		err = errors.Join(err, sweepGitIn(dir, before))
	}
	return err
}

func sweepGitIn(dir string, before time.Time) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, serr := os.Lstat(path); serr == nil && isGitTemp(e.Name(), info) && info.ModTime().Before(before) {
			err = errors.Join(err, removeGitTemp(path, info))
		}
	}
	return err
}

// isGitTemp reports whether git gives a temporary file or directory this name.
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
		return atomicfile.IgnoreInUse(os.RemoveAll(path))
	}
	return atomicfile.IgnoreInUse(atomicfile.RemoveIfThere(path))
}
