package repair

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

func StoresIn(dataDir string) string { return filepath.Join(dataDir, "snapshot") }

// IsMissing reports whether a root is certainly not there. One that may not be looked
// at is there.
func IsMissing(root string) bool {
	info, err := os.Stat(root)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir()
}
