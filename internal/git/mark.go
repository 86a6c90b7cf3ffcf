package git

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Mark tells, for the price of a few lstat calls, whether Find may have another result than before.
// It holds the stat of the nearest entry named .git. Changes inside of that, and bare repositories
// around a directory, do not show.
type Mark struct {
	path string
	info fs.FileInfo // nil = there is none
}

// MarkOf returns the mark of a directory, which is absolute and without symbolic links.
func MarkOf(dir string) Mark {
	for {
		path := filepath.Join(dir, ".git")
		if info, err := os.Lstat(path); err == nil {
			return Mark{path, info}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return Mark{}
		}
		dir = parent
	}
}

// Same reports whether no .git has come, gone or been replaced between two marks. A .git file must
// not have been written either.
func (m Mark) Same(o Mark) bool {
	if m.info == nil || o.info == nil {
		return m.info == o.info
	}
	same := m.path == o.path && os.SameFile(m.info, o.info)
	return same && (m.info.IsDir() || m.info.ModTime().Equal(o.info.ModTime()))
}
