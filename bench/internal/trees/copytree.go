package trees

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Linked says which files of a tree a copy may share by hard links.
type Linked func(rel string) bool

// LinkBelow shares what lies below a directory of the tree, '/'-separated.
func LinkBelow(dir string) Linked {
	return func(rel string) bool { return strings.HasPrefix(filepath.ToSlash(rel), dir+"/") }
}

// LinkNothing shares no file.
func LinkNothing(string) bool { return false }

// CopyTree copies a directory to one that does not exist yet.
func CopyTree(from, to string, link Linked) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case link(rel) && os.Link(path, target) == nil:
			return nil
		}
		return copyFile(path, target)
	})
}
