// Package realpath gives each directory one name: without symbolic links, and spelled as
// the disk spells it.
//
// Stores are found by the path of their root, and what tools name is compared with it. On
// macOS a shell that was sent to ~/proj stays there by that name although the directory is
// called Proj; to go by it would give the project two histories.
package realpath

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Of resolves an absolute path that exists. On Windows package filepath asks for the
// spelling itself; elsewhere than on macOS names that differ are two, but for rare file
// systems, which are not asked.
func Of(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil && runtime.GOOS == "darwin" {
		real = spelled(real)
	}
	return real, err
}

// spelled returns a path with the names that its directories list. Names in a directory
// that cannot be listed stay as they are.
func spelled(path string) string {
	at := filepath.VolumeName(path) + string(filepath.Separator)
	for name := range strings.SplitSeq(strings.TrimPrefix(path, at), string(filepath.Separator)) {
		at = filepath.Join(at, listed(at, name))
	}
	return at
}

// listed is the name that a directory lists for a name.
func listed(dir, name string) string {
	f, err := os.Open(dir)
	if err != nil {
		return name
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return name
	}
	var others []string
	for _, n := range names {
		if n == name {
			return name
		}
		if strings.EqualFold(n, name) || !isASCII(n) && !isASCII(name) { // accents are composed in two ways
			others = append(others, n)
		}
	}
	it, err := os.Lstat(filepath.Join(dir, name))
	if err != nil {
		return name
	}
	for _, n := range others {
		if other, err := os.Lstat(filepath.Join(dir, n)); err == nil && os.SameFile(it, other) {
			return n
		}
	}
	return name
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}
