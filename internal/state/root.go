package state

import (
	"fmt"
	"io/fs"
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

// CheckRoot reports as an ErrRoot that a resolved root is no directory any more. A symlink in its place
// leads to another root.
func CheckRoot(root string) error {
	info, err := os.Lstat(root)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRoot, err)
	}
	if info.Mode()&fs.ModeSymlink != 0 || info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is no directory any more", ErrRoot, root)
	}
	return nil
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
