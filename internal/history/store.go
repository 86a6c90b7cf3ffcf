package history

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/thinned"
)

// Store is the history of one root: its checkpoints, lines and operations in a git
// repository.
type Store struct {
	Opt  settings.Options
	Room settings.Room // by Options.Retention
	Root string        // real path of the captured directory
	DB   *odb.DB
	Log  *slog.Logger
	Now  func() time.Time

	Never     atomic.Pointer[denyList] // set by RefreshDenied
	Trees     treeCache
	FreeSpace func() (int64, error) // bytes on the disk of the store

	// Recovery finishes interrupted operations. Disturbed is called if another process has held the
	// lock since this Store did.
	Recovery  func(context.Context, *Locked) error
	Disturbed func(*Locked)

	thinned atomic.Pointer[thinned.Table] // read last, see ThinnedTable

	forked sync.Once // see Forked
	fork   *ForkRecord

	moved      sync.Once // see Moved
	movedRoots []odb.MovedRoot

	// Touched only with the store's lock held.
	tidied       time.Time // time of the last tidy; zero = tidy before the next command
	disturbances int       // DB.Disturbances when this Store last held the lock
}

// New returns a Store without a DB.
func New(opt settings.Options, root string) *Store {
	s := &Store{Opt: opt, Root: root, Log: opt.Logger, Now: time.Now}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return s
}

// Use sets the DB of the Store.
func (r *Store) Use(db *odb.DB) { r.DB, r.FreeSpace = db, db.FreeSpace }

// LeastFree returns how many bytes of the disk stay free beside work that may itself make room: the smaller of minFree
// and half of the free space.
func (r *Store) LeastFree(minFree int64) int64 {
	free, err := r.FreeSpace()
	if err != nil {
		return minFree
	}
	return min(minFree, free/2)
}
