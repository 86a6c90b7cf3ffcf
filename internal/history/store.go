package history

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// Store is the history of one root: its checkpoints, lines and operations in a git
// repository.
type Store struct {
	Opt  settings.Options
	Root string // real path of the captured directory
	DB   *odb.DB
	Log  *slog.Logger
	Now  func() time.Time

	Never     atomic.Pointer[denyList] // see RefreshDenied
	Trees     treeCache
	FreeSpace func() (int64, error) // bytes on the disk of the store
	LongWalk  int                   // checkpoints after which a look-up makes an index; 0 = never

	// Recovery finishes interrupted operations. Disturbed is called with the lock held
	// when another process has had it since this Store did.
	Recovery  func(context.Context) error
	Disturbed func()

	// These belong to the holder of the lock.
	Tidied       time.Time // when tidy has looked; zero = it has to
	disturbances int       // of the lock, when this Store had it last

	outlines outlines
	lookups  atomic.Pointer[treeIndex] // the index made last
}

// New returns a Store that lacks its DB.
func New(opt settings.Options, root string) *Store {
	s := &Store{Opt: opt, Root: root, Log: opt.Logger, Now: time.Now, LongWalk: LongWalk}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return s
}

// Use gives the Store its DB.
func (r *Store) Use(db *odb.DB) { r.DB, r.FreeSpace = db, db.FreeSpace }
