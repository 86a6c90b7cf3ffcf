package cairn

import (
	"errors"
	"time"
)

// StoreInfo describes one store below a data directory.
type StoreInfo struct {
	Dir     string    // of the store
	Root    string    // directory that it belongs to, "" if that cannot be read
	Size    int64     // bytes of all files
	Used    time.Time // when something was last written
	Missing bool      // the root is not there any more
	Err     error     // why the store cannot be used; nil if it can
}

// Stores lists the stores below a data directory, ordered by root. A data directory
// that does not exist has none.
func Stores(dataDir string) ([]StoreInfo, error) { return nil, errors.ErrUnsupported }
