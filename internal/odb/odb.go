// Package odb is cairn's store: a bare git repository, read and written here
// without any git, that any git can read, verify, repack and push.
//
// # Layout
//
//	HEAD config objects/{info,pack} refs/{heads,tags,cairn}    as git has them
//	cairn/version       "1", the version of this layout
//	cairn/root          the absolute path of the directory that the store belongs to
//	cairn/lock          an empty file that carries the kernel lock
//	cairn/lock.holder   who has the lock, for messages and for foreign machines, or who had it last
//	cairn/lock.wait     carries the kernel locks of those who wait for the lock
//	cairn/collect       carries the kernel lock of who is cleaning up
//	cairn/damaged/      what Repair has set aside
//	cairn/journal/      records of operations under way
//	cairn/redo          what small publishes promised, see below
//	cairn/index*        private files of package index
//
// Package pack reads and writes a single pack; this package knows which packs there are.
//
// # Writing
//
// A [Batch] becomes one pack and its index, whatever the number of objects. Both
// are written under temporary names, flushed, and renamed, the pack first: an
// object is in the store when its index is. [DB.Fold] keeps the number of packs
// small by copying entries from many packs into one. It touches only packs that
// this package wrote, which it knows by their names: pack-<hex> where hex is not
// the checksum of the pack, as git names them, but a hash of that checksum.
//
// What is small is not flushed file by file. It is appended to the redo log, which is
// flushed once, and only reaches its own place on the disk when the kernel likes, or
// when it is folded. After a loss of power Open brings it back from the log. Other
// programs that read the store after that, and before Open, may find files torn.
//
// # Reading
//
// Contents are always compared with the id they were asked for by: the answer is
// the right bytes or an error. Damage in one pack does not disturb the objects of
// another. Packs come and go under our hands (a fold in another process, a
// repacking git); a look-up that fails lists the packs again before it gives up.
//
// # Cleaning up
//
// [DB.Collect] drops what nothing leads to. What takes long, it does without the
// lock: marking, and copying what is kept of packs into new ones, which lie aside
// under temporary names. Then, for each piece of work, it takes the lock for a
// moment, marks what refs and journals have come to lead to meanwhile, and
//
//   - if any object that is about to go has been marked since, gives that piece up
//     and plans it again,
//   - else puts the new pack in place and takes the old ones away.
//
// So everything that goes is garbage by the refs of the very hold of the lock in
// which it goes, and nobody who holds the lock from the moment of looking for an
// object until a ref leads to it can lose it. Packs that have come since the marking
// began are not touched. Those who wait for the lock announce themselves; between
// two pieces of work, and while much has to be marked, they go first.
//
// # Locking
//
// [DB.Lock] excludes other writers. Reading needs no lock. Batches may be filled
// without it by those who know that what they refer to is not garbage; Commit, Fold,
// Sweep, SetRef and DeleteRef are meant to be called under it, and say so where more
// than tidiness depends on it.
package odb

import (
	"errors"
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

// The conditions that callers tell apart.
var (
	ErrCorrupt  = pack.ErrCorrupt
	ErrSize     = pack.ErrSize // of contents that are being added
	ErrPack     = pack.ErrPack
	ErrNotFound = pack.ErrNotFound
	ErrLocked   = errors.New("store is locked")
	ErrNotStore = errors.New("no cairn store")
)

// Options of Create and Open. The zero value is safe and durable.
type Options struct {
	NoSync  bool   // do not flush to the disk: a loss of power may lose what was written last
	Command string // what the lock says its holder is doing

	token  func() (redo.Token, bool) // for tests of a loss of power
	moving bool                      // the recorded root counts, whatever the name of the store says
}

// DB is an open store. All methods may be called from several goroutines.
type DB struct {
	dir, root string
	opt       Options

	turn  chan struct{} // held by the goroutine of this DB that has or seeks the lock
	queue atomic.Int32  // goroutines of this DB that wait for their turn

	note         string // that we left with the lock; this and the next belong to who has the turn
	disturbances int    // see Disturbances

	listing sync.Mutex // held while the set of packs is changed
	packs   atomic.Pointer[packSet]
	last    atomic.Pointer[pack.Pack] // where the last object was found
	ids     pack.Filter
	bases   pack.Bases // of deltas
	closed  atomic.Bool
	shallow atomic.Pointer[shallowList] // as it was last read
	loosely atomic.Pointer[looseList]   // as it was last listed

	refLockWait time.Duration // see writeRef
	inOrder     func() bool   // see ordered; asked once
	shows       func() bool   // see ShowsChanges; asked once
	log         *redo.Log
}

// Open opens the store in dir. The root that the store belongs to must be root,
// unless that is empty. Damage to the objects is not looked for.
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
	if err := db.recover(); err != nil {
		return nil, err
	}
	return db, nil
}

// Dir returns the absolute path of the store.
func (db *DB) Dir() string { return db.dir }

// Root returns the directory that the store belongs to, as it was recorded.
func (db *DB) Root() string { return db.root }

// Close releases the files that are held open. It does not release a lock, which
// has its own unlock function. Readers that DB.Open returned stay usable.
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

// PrivatePath returns the path of a private file of package index.
func (db *DB) PrivatePath(name string) string { return db.path(privateDir, name) }

func (db *DB) path(elem ...string) string {
	return filepath.Join(append([]string{db.dir}, elem...)...)
}

const (
	idSize    = len(object.ID{})
	onWindows = runtime.GOOS == "windows"
)
