package odb

import (
	"context"
	"errors"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// The conditions under which Collect ends early. The store is sound, and what was
// done so far stays done.
var (
	ErrNoSpace    = errors.New("no space left for cleaning up")
	ErrCollecting = errors.New("store is being cleaned up by another process")
)

// Collection says what Collect keeps and how far it goes. The zero value keeps what
// refs, HEAD and journals lead to, and does what pays.
type Collection struct {
	Roots []object.ID // kept with all that they lead to, whether they are there or not

	// Thorough drops every object that is not kept, however much has to be copied
	// for it. Otherwise packs with little garbage stay as they are.
	Thorough bool

	// DryRun changes nothing. WithoutRef names refs that are to count as deleted, Cut
	// commits whose parents are not to count, beside those that DB.Shallow lists and
	// that never count; both are for dry runs only.
	DryRun     bool
	WithoutRef func(name string) bool
	Cut        []object.ID

	Reserve int64                 // bytes that have to stay free on the file system
	Free    func() (int64, error) // bytes that are free; nil asks the system

	// Pack, if not nil, makes a delta-compressed pack where that pays, in dir, of the
	// objects whose names it reads: lines of an id, a blank and the name of a file,
	// which tells what may resemble what. See Binary.PackObjects of package git.
	Pack PackFunc

	// BeforeRemove is called with the lock held, when the packs that take the place
	// of others are on the disk, and before the others go: with the names of those
	// that go and of all that will be left. An error keeps them. It is where a stat
	// cache that remembers the names of packs is brought up to date.
	BeforeRemove func(gone, left []string) error
}

// Collected says what Collect found and did.
type Collected struct {
	Live, Garbage int   // objects that are kept; that are not needed
	Dropped       int   // of the garbage, objects that are gone
	Freed         int64 // bytes by which packs and loose objects have shrunk; of a dry run, an estimate
	Size          int64 // bytes of packs and loose objects now
	Packs         int   // packs now
	Peak          int64 // bytes of temporary files, at most

	Added, Removed []string // names of packs

	// Lost are objects that are needed and cannot be read. Where a commit or tree is
	// among them, or a ref is torn, nobody knows what they lead to: Blocked says so,
	// and nothing has been dropped.
	Lost    []Fault
	Blocked error

	// Incomplete: there is more to do, because somebody needed the store. Collect
	// again, at leisure.
	Incomplete bool
}

// Collect drops what nothing leads to any more. Call it without the lock: it takes
// the lock itself, for moments.
func (db *DB) Collect(ctx context.Context, c Collection) (*Collected, error) {
	return nil, errors.ErrUnsupported
}
