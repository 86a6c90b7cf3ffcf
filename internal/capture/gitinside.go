package capture

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// gitInside lists the git directories of the user's repository that lie below the root under another
// name than .git. A scan passes over those with that name.
func (r *Capturer) gitInside() (inside []string) {
	repo := r.Repository()
	if repo == nil {
		return nil
	}
	for _, dir := range []string{repo.CommonDir, repo.GitDir} {
		rel, err := filepath.Rel(r.Root, dir)
		if err != nil || rel == "." || !realpath.Within(dir, r.Root) {
			continue
		}
		rel = filepath.ToSlash(rel)
		if !slices.Contains(inside, rel) && !slices.Contains(strings.Split(rel, "/"), ".git") {
			inside = append(inside, rel)
		}
	}
	return inside
}
