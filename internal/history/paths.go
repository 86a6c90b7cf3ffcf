package history

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/realpath"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// Rel returns the '/'-separated path below the root. path is absolute, or relative to the root. The
// root itself is "".
func (r *Store) Rel(path string) (string, error) {
	p := filepath.FromSlash(path)
	if filepath.IsAbs(p) {
		p = r.relAbs(filepath.Clean(p))
	} else if p != "" {
		p = filepath.Clean(p)
	}
	switch {
	case p == ".":
		return "", nil
	case path == "":
		return "", fmt.Errorf("%w %s: an empty path", state.ErrOutside, r.Root)
	case p == "" || !filepath.IsLocal(p) || strings.IndexByte(p, 0) >= 0:
		return "", fmt.Errorf("%w %s: %s", state.ErrOutside, r.Root, path)
	}
	return filepath.ToSlash(p), nil
}

// relAbs cuts the root off an absolute path. It returns "" for a path outside the root. A path that
// names the root through a symlink is resolved as far as its directories exist.
func (r *Store) relAbs(p string) string {
	for _, candidate := range []string{p, resolveExisting(p)} {
		if realpath.Within(candidate, r.Root) {
			if rel, err := filepath.Rel(r.Root, candidate); err == nil {
				return rel
			}
		}
	}
	return ""
}

// resolveExisting resolves the symlinks in the existing parents of p, but not p itself.
func resolveExisting(p string) string {
	dir, base := filepath.Split(p)
	dir = filepath.Clean(dir)
	if dir == p {
		return p
	}
	if real, err := realpath.Of(dir); err == nil {
		return filepath.Join(real, base)
	}
	return filepath.Join(resolveExisting(dir), base)
}
