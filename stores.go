package cairn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/repair"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// StoreInfo describes one store below a data directory.
type StoreInfo struct {
	Dir     string    // of the store
	Root    string    // directory of the store's project, "" if that cannot be read
	Size    int64     // bytes of all files
	Used    time.Time // last time that a command worked with it
	Missing bool      // the root does not exist, or is not visible from here
	Err     error     // why the store cannot be used; nil if it can be used
}

type storeInfoJSON struct {
	Dir     Path      `json:"store"`
	Root    Path      `json:"root"`
	Size    int64     `json:"size"`
	Used    time.Time `json:"used,omitzero"`
	Missing bool      `json:"missing,omitempty"`
	Err     string    `json:"error,omitempty"`
}

// MarshalJSON implements json.Marshaler: {"store","root","size","used","missing","error"}.
func (s StoreInfo) MarshalJSON() ([]byte, error) {
	j := storeInfoJSON{Path(s.Dir), Path(s.Root), s.Size, s.Used, s.Missing, ""}
	if s.Err != nil {
		j.Err = s.Err.Error()
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements json.Unmarshaler. The decoded error has the text only.
func (s *StoreInfo) UnmarshalJSON(data []byte) error {
	var j storeInfoJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*s = StoreInfo{string(j.Dir), string(j.Root), j.Size, j.Used, j.Missing, nil}
	if j.Err != "" {
		s.Err = errors.New(j.Err)
	}
	return nil
}

// StoreUsed returns when a process last worked with root's store below a data directory.
func StoreUsed(dataDir, root string) (time.Time, error) {
	return odb.Used(StorePath(dataDir, root))
}

// StoreSealed reports whether root's store below a data directory is sealed.
func StoreSealed(dataDir, root string) bool { return odb.IsSealed(StorePath(dataDir, root)) }

// Stores lists the stores below a data directory, ordered by root. A data directory
// that does not exist has none.
func Stores(dataDir string) ([]StoreInfo, error) {
	dirs, err := odb.List(repair.StoresIn(dataDir))
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
			info.Missing = repair.IsMissing(info.Root)
			db.Close()
		}
		stores = append(stores, info)
	}
	slices.SortFunc(stores, func(a, b StoreInfo) int {
		return strings.Compare(a.Root+"\x00"+a.Dir, b.Root+"\x00"+b.Dir)
	})
	return stores, nil
}

// Store is one store of a data directory, opened without its root. Its methods work whether or not
// the root exists, and never change the root. The zero value is a closed one.
type Store struct{ repo *Repo }

// opened is the error of a zero value.
func (s *Store) opened() error {
	if s.repo == nil {
		return fmt.Errorf("%w: %w", ErrStore, fs.ErrClosed)
	}
	return nil
}

// OpenStore opens the store in dir, as Stores lists it. An error wraps ErrStore.
func OpenStore(dir string) (*Store, error) {
	db, err := odb.Open(dir, "", odb.Options{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	dataDir := filepath.Dir(filepath.Dir(db.Dir()))
	r := newRepo(Options{Root: db.Root(), DataDir: dataDir, Disabled: "it was opened as a store, without its root"}, db.Root(), nil)
	r.store.DB, r.store.FreeSpace = db, db.FreeSpace
	_ = r.store.RefreshDenied() // nothing is captured
	return &Store{r}, nil
}

// Dir returns the path of the store: a bare git repository.
func (s *Store) Dir() string {
	if s.repo == nil {
		return ""
	}
	return s.repo.StoreDir()
}

// Root returns the directory that the store belongs to. It need not exist.
func (s *Store) Root() string {
	if s.repo == nil {
		return ""
	}
	return s.repo.store.Root
}

// Usage is Repo.Usage.
func (s *Store) Usage(ctx context.Context) (*Usage, error) {
	if err := s.opened(); err != nil {
		return nil, err
	}
	return s.repo.cleaner.Usage(ctx)
}

// Check is Repo.Check without Fix: a repair may have to finish an operation in the root, which
// requires an open root.
func (s *Store) Check(ctx context.Context, opt CheckOptions) ([]Fault, error) {
	if err := s.opened(); err != nil {
		return nil, err
	}
	if opt.Fix {
		return nil, fmt.Errorf("%w: repair %s by way of its root %s", ErrStore, s.Dir(), s.Root())
	}
	return s.repo.doctor.Check(ctx, opt)
}

// Clean is Repo.Clean as a dry run: it reports how much a cleaning would free. The cleaning itself
// may have to finish an operation in the root, which requires an open root.
func (s *Store) Clean(ctx context.Context, opt CleanOptions) (*CleanResult, error) {
	if err := s.opened(); err != nil {
		return nil, err
	}
	if !opt.DryRun {
		return nil, fmt.Errorf("%w: clean %s by way of its root %s", ErrStore, s.Dir(), s.Root())
	}
	return s.repo.cleaner.Clean(ctx, opt)
}

// Close releases the store.
func (s *Store) Close() error {
	if s.repo == nil {
		return nil
	}
	return s.repo.Close()
}

// RemoveStore removes the store of a root that no longer exists, with all its checkpoints. An
// existing root is ErrRoot, a root without a store ErrNotFound.
func RemoveStore(ctx context.Context, dataDir, root string) error {
	dir := StorePath(dataDir, root)
	if !repair.IsMissing(root) {
		return fmt.Errorf("%w: %s is there; its store is not abandoned", ErrRoot, root)
	}
	db, err := odb.Open(dir, root, odb.Options{Command: "removal of the store"})
	if errors.Is(err, odb.ErrNotStore) {
		return state.NotFound("no store of %s", root)
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
