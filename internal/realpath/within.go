package realpath

import (
	"path/filepath"
	"strings"
)

// Within reports whether a path is a directory or lies below it, by their names alone. Both are absolute,
// or both count from one directory; they need not be clean. Links are not followed, see [Of]. No path lies
// within "", and none within a directory of another volume.
func Within(path, dir string) bool {
	if path == "" || dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
