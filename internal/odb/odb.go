package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/redo"
)

// The errors that callers distinguish.
var (
	ErrCorrupt  = pack.ErrCorrupt
	ErrSize     = pack.ErrSize // contents have another size than the caller has said
	ErrPack     = pack.ErrPack
	ErrNotFound = pack.ErrNotFound
	ErrLocked   = errors.New("store is locked")
	ErrNotStore = errors.New("no cairn store")
	ErrUnusable = errors.New("unusable store") // that was open is gone
	ErrSealed   = errors.New("store is sealed")
)

// Options of Create and Open. The zero value is safe and durable.
type Options struct {
	NoSync  bool   // do not flush to the disk: a loss of power may lose the last writes
	Command string // the work of this process, for the record of the lock

	token  func() (redo.Token, bool) // for tests of a loss of power
	moving bool                      // the recorded root counts, whatever the name of the store says
	sealed bool                      // the store is sealed, and only its lock is used
}

// DB is an open store. Several goroutines may call its methods.
type DB struct {
	dir, root string
	opt       Options

	turn  chan struct{} // full while a goroutine of this DB has the lock or waits for the kernel lock
	queue atomic.Int32  // goroutines of this DB that wait for their turn

	// The goroutine that has the turn owns them.
	nonce        string // in the record since this DB last released the lock, "" = unknown
	disturbances int    // see Disturbances
	configured   bool   // completeConfig has run

	listing   sync.Mutex // held while the set of packs changes
	packs     atomic.Pointer[packSet]
	last      atomic.Pointer[pack.Pack] // the pack of the last object that was found
	bases     pack.Bases                // of deltas
	closed    atomic.Bool
	shallow   atomic.Pointer[shallowList] // as it was last read
	looseList atomic.Pointer[looseList]   // as it was last listed
	shown     atomic.Pointer[Batch]       // see Batch.Show

	refLockWait time.Duration // see writeRef
	inOrder     func() bool   // see ordered; asked once
	shows       func() bool   // whether every change shows at once in the time of the packs; asked once
	log         *redo.Log
}

// Open opens the store in dir. Unless root is empty, the store has to belong to root. Open does
// not look for damage to objects.
func Open(dir, root string, opt Options) (*DB, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := checkLayout(dir); err != nil {
		return nil, err
	}
	if root, err = rootOf(dir, root, opt.moving); err != nil {
		return nil, err
	}
	db := newDB(dir, root, opt)
	if err := db.recover(); err != nil {
		return nil, err
	}
	return db, nil
}

// newDB returns a DB for a store, of which it reads nothing.
func newDB(dir, root string, opt Options) *DB {
	db := &DB{dir: dir, root: root, opt: opt, turn: make(chan struct{}, 1), refLockWait: refLockWait}
	db.packs.Store(&packSet{})
	db.bases.Elsewhere = db.findPacked
	db.inOrder = sync.OnceValue(func() bool { return ordered(db.path(packDir), db.path("refs")) })
	db.shows = sync.OnceValue(func() bool { return atomicfile.ShowsChanges(db.path(packDir)) })
	token := opt.token
	if token == nil {
		token = sync.OnceValues(func() (redo.Token, bool) { return redo.TokenOf(db.path(packDir)) })
	}
	db.log = db.newLog(token)
	return db
}

// Dir returns the absolute path of the store.
func (db *DB) Dir() string { return db.dir }

// Root returns the directory that the store belongs to, by its record.
func (db *DB) Root() string { return db.root }

// Close closes the files of the store. It does not release a lock, which has its own unlock
// function. Readers that DB.Open returned stay usable.
func (db *DB) Close() error {
	db.listing.Lock()
	defer db.listing.Unlock()
	if db.closed.Swap(true) {
		return nil
	}
	old := db.packs.Swap(&packSet{})
	db.last.Store(nil)
	for _, p := range old.packs {
		p.Close()
	}
	return nil
}

// errClosed is the error of a closed DB. Refs are files of their own, which a closed DB could still
// read: without its packs they would look like those of an empty store.
func (db *DB) errClosed() error {
	if !db.closed.Load() {
		return nil
	}
	return fmt.Errorf("store %s: %w", db.dir, fs.ErrClosed)
}

// errAbsent is why a store shows no ref: another process has removed or sealed it since it was opened.
// It is nil for a store that has none.
func (db *DB) errAbsent() error {
	if IsSealed(db.dir) {
		return sealedError(db.dir)
	}
	if _, err := os.Lstat(db.path(versionFile)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return db.gone(checkLayout(db.dir))
}

// gone says of an open store that it is there no more, if that is the error of its layout.
func (db *DB) gone(err error) error {
	if !errors.Is(err, ErrNotStore) {
		return err
	}
	return fmt.Errorf("%w: %s is gone: %w", ErrUnusable, db.dir, err)
}

// PrivatePath returns the path of a file in cairn/.
func (db *DB) PrivatePath(name string) string { return db.path(privateDir, name) }

func (db *DB) path(elem ...string) string {
	return filepath.Join(append([]string{db.dir}, elem...)...)
}

const (
	idSize    = len(object.ID{})
	onWindows = runtime.GOOS == "windows"
)
