//go:build !linux

package git

import "io/fs"

// identify knows no file. Only a watching Repo reads the files so often that caching matters, and
// there is none on these systems.
func identify(fs.FileInfo) (s Signature, ok bool) { return s, false }
