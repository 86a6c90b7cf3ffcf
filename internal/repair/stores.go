package repair

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// StoresIn returns the directory of the stores in a data directory.
func StoresIn(dataDir string) string { return filepath.Join(dataDir, "snapshot") }

// IsMissing reports whether a root certainly does not exist. A root that may not be read counts as
// existing.
func IsMissing(root string) bool {
	info, err := os.Stat(root)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir()
}
