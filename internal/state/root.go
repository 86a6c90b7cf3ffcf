package state

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// ProjectID names the store of a root: the first 8 bytes, in hex, of the SHA-256
// of the root's absolute path.
func ProjectID(root string) string { return odb.ProjectID(root) }

// StorePath returns the path of root's store below a data directory.
func StorePath(dataDir, root string) string {
	return filepath.Join(dataDir, "snapshot", ProjectID(root))
}

// ResolveRoot returns the real absolute path of a directory. Errors wrap ErrRoot.
func ResolveRoot(dir string) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("%w: none given", ErrRoot)
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = realpath.Of(abs)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrRoot, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrRoot, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%w: %s is not a directory", ErrRoot, abs)
	}
	return abs, nil
}
