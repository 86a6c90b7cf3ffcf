package cairn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// StoreInfo describes one store below a data directory.
type StoreInfo struct {
	Dir     string    // of the store
	Root    string    // directory that it belongs to, "" if that cannot be read
	Size    int64     // bytes of all files
	Used    time.Time // when somebody last worked with it
	Missing bool      // the root is not there, or not to be seen from here
	Err     error     // why the store cannot be used; nil if it can
}

// Stores lists the stores below a data directory, ordered by root. A data directory
// that does not exist has none.
func Stores(dataDir string) ([]StoreInfo, error) {
	dirs, err := odb.List(storesIn(dataDir))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	var stores []StoreInfo
	for _, dir := range dirs {
		info := StoreInfo{Dir: dir}
		info.Size, _, _ = odb.Measure(dir)
		info.Used, info.Err = odb.Used(dir)
		db, err := odb.Open(dir, "", odb.Options{})
		if err != nil {
			info.Err = err
		} else {
			info.Root = db.Root()
			info.Missing = isMissing(info.Root)
			db.Close()
		}
		stores = append(stores, info)
	}
	slices.SortFunc(stores, func(a, b StoreInfo) int {
		return strings.Compare(a.Root+"\x00"+a.Dir, b.Root+"\x00"+b.Dir)
	})
	return stores, nil
}

func storesIn(dataDir string) string { return filepath.Join(dataDir, "snapshot") }

// isMissing reports whether a root is certainly not there. One that may not be looked
// at is there.
func isMissing(root string) bool {
	info, err := os.Stat(root)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir()
}

// OpenStore opens a store as Stores lists it, whether its root is there or not, for
// Usage, Check and dry runs of Clean: nothing that needs the root works where it is
// gone.
func OpenStore(dir string) (*Repo, error) {
	db, err := odb.Open(dir, "", odb.Options{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	return &Repo{opt: Options{DataDir: filepath.Dir(filepath.Dir(db.Dir()))}, root: db.Root(), db: db, log: slog.New(slog.DiscardHandler), now: time.Now}, nil
}

// RemoveStore removes the store of a root that is not there any more, with all its
// checkpoints. A root that is there is ErrRoot, one without a store ErrNotFound.
func RemoveStore(ctx context.Context, dataDir, root string) error {
	dir := StorePath(dataDir, root)
	if !isMissing(root) {
		return fmt.Errorf("%w: %s is there; its store is not abandoned", ErrRoot, root)
	}
	db, err := odb.Open(dir, root, odb.Options{Command: "removal of the store"})
	if errors.Is(err, odb.ErrNotStore) {
		return notFound("no store of %s", root)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	defer db.Close()
	unlock, err := db.Lock(ctx)
	if err != nil {
		return err
	}
	if err := db.Remove(unlock); err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	return nil
}

// Adopt gives the store of a directory that was moved to where it is now. The old
// root must be gone (ErrRoot), and the new one must not have a store of its own
// (ErrExists): what was captured there since can be had by fetching from the old
// store. The error wraps ErrNotFound if the old root has no store.
func Adopt(ctx context.Context, dataDir, oldRoot, newRoot string) error {
	root, err := resolveRoot(newRoot)
	if err != nil {
		return err
	}
	from, to := StorePath(dataDir, oldRoot), StorePath(dataDir, root)
	if !isMissing(oldRoot) {
		return fmt.Errorf("%w: %s is still there, with a store of its own", ErrRoot, oldRoot)
	}
	err = odb.Move(ctx, from, to, root, odb.Options{Command: "adoption"})
	switch {
	case errors.Is(err, odb.ErrNotStore):
		return notFound("no store of %s", oldRoot)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: %s has checkpoints of its own by now (cairn fetch %s brings the old ones)", ErrExists, root, from)
	case errors.Is(err, ErrLocked):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	return nil
}
