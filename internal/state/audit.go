package state

import (
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// CheckPaths refuses paths that no capture records.
func (m *Metadata) CheckPaths() error {
	for path := range m.Perms {
		if !isPath(path, object.SafeName) {
			return fmt.Errorf("metadata with the path %q", path)
		}
	}
	for _, list := range [][]Path{m.Empty, m.Bare} {
		for _, path := range list {
			if path != "" && !isPath(string(path), object.SafeName) {
				return fmt.Errorf("metadata with the path %q", string(path))
			}
		}
	}
	for dir := range m.Rules.Dirs {
		if dir != "" && !isPath(dir, object.SafeName) {
			return fmt.Errorf("metadata with the path %q", dir)
		}
	}
	// A skipped path may have any name that no capture accepts, and so may a path that a caller has named.
	for _, s := range m.Skipped {
		if !isPath(string(s.Path), isName) {
			return fmt.Errorf("metadata with the path %q", s.Path)
		}
	}
	for _, path := range m.Seen {
		if path != "" && !isPath(string(path), isName) {
			return fmt.Errorf("metadata with the path %q", string(path))
		}
	}
	return nil
}

func isName(name string) bool { return name != "" && name != "." && name != ".." }

// isPath reports whether every name of a '/'-separated path is good.
func isPath(path string, good func(name string) bool) bool {
	for name := range strings.SplitSeq(path, "/") {
		if !good(name) {
			return false
		}
	}
	return true
}
