package git

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Mark tells whether Find may have another answer than before, for the price of a look at
// a few names: it is the nearest entry named .git, as it was. What is inside of that, and
// bare repositories around a directory, it does not see.
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

// Same reports whether nothing has come, gone or been exchanged between two marks. A file
// that leads to a repository elsewhere must not have been written either.
func (m Mark) Same(o Mark) bool {
	if m.info == nil || o.info == nil {
		return m.info == o.info
	}
	same := m.path == o.path && os.SameFile(m.info, o.info)
	return same && (m.info.IsDir() || m.info.ModTime().Equal(o.info.ModTime()))
}
