//go:build !(linux && (amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x))

package system

import (
	"io/fs"
	"path/filepath"
)

// WalkTree lists every directory below root and takes the status of every entry, one
// after the other with the means of the standard library. Directories in skip,
// '/'-separated, are not entered.
func WalkTree(root string, skip map[string]bool) (Walked, error) {
	var seen Walked
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, err := d.Info(); err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skip[filepath.ToSlash(rel)] {
				return fs.SkipDir
			}
			seen.Dirs++
		} else {
			seen.Files++
		}
		return nil
	})
	return seen, err
}
