package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// linked says which files of a tree a copy may share by hard links.
type linked func(rel string) bool

// linkBelow shares what lies below a directory of the tree, '/'-separated.
func linkBelow(dir string) linked {
	return func(rel string) bool { return strings.HasPrefix(filepath.ToSlash(rel), dir+"/") }
}

func linkNothing(string) bool { return false }

// copyTree copies a directory to one that does not exist yet.
func copyTree(from, to string, link linked) error {
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
