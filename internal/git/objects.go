package git

import (
	"path/filepath"
	"slices"
	"strings"
)

const (
	maxAlternates     = 1 << 20 // bytes of one info/alternates
	maxAlternateDepth = 5       // git's own limit
)

// ObjectDirs lists the directories that hold the repository's objects: its own first,
// then those that it borrows from.
func (r *Repo) ObjectDirs() []string {
	return withAlternates(nil, filepath.Join(r.CommonDir, "objects"), 0)
}

func withAlternates(list []string, dir string, depth int) []string {
	if depth > maxAlternateDepth || slices.Contains(list, dir) {
		return list
	}
	list = append(list, dir)
	text, err := ReadFile(filepath.Join(dir, "info", "alternates"), maxAlternates)
	if err != nil {
		return list
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' || line[0] == '"' {
			continue // quoted ones are rare, and leaving one out costs only time
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(dir, line)
		}
		list = withAlternates(list, filepath.Clean(line), depth+1)
	}
	return list
}
