package odb

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// FaultKind is what is wrong.
type FaultKind string

// The kinds of fault.
const (
	FaultPack      FaultKind = "pack"        // a pack is damaged or cut off
	FaultIndex     FaultKind = "pack index"  // the index of a pack is damaged or missing
	FaultObject    FaultKind = "object"      // an object cannot be read
	FaultMissing   FaultKind = "missing"     // something leads to an object that is not there
	FaultRef       FaultKind = "ref"         // a ref is torn
	FaultJournal   FaultKind = "journal"     // a journal is torn
	FaultTemporary FaultKind = "temporary"   // a dead writer's file
	FaultUnknown   FaultKind = "unknown"     // a file that is none of ours
	FaultLock      FaultKind = "lock"        // the record of a lock's holder on another machine
	FaultMode      FaultKind = "permissions" // others may read or write
	FaultLayout    FaultKind = "layout"      // a file that a store must have is missing or damaged
)

// Fault is one thing that is wrong with a store.
type Fault struct {
	Kind   FaultKind
	Path   string    // of the file, absolute; "" if there is none
	Ref    string    // name of the ref, if it is about one
	ID     object.ID // of the object, if it is about one
	Err    error
	Repair string // what Repair would do, for people; "" if it can do nothing
}

// Verification says what Verify looks at.
type Verification struct {
	Roots []object.ID // must be whole, too, with all that they lead to
	Quick bool        // does not read contents: frames, checksums of indexes, refs and files only
}

// Verify looks at everything in the store and yields what is wrong, one by one. It
// needs no lock; with the lock held nothing changes meanwhile. An error ends it: the
// store is gone, or ctx has ended. Memory does not depend on the damage.
//
// One damaged pack yields a FaultPack, which can be repaired, and a FaultObject for
// each of its objects that is lost, which cannot.
func (db *DB) Verify(ctx context.Context, v Verification) iter.Seq2[Fault, error] {
	return func(yield func(Fault, error) bool) {
		c := &checker{db: db, ctx: ctx, v: v, told: make(map[object.ID]bool), yield: yield}
		if err := c.all(); err != nil && !errors.Is(err, errEnough) {
			yield(Fault{}, err)
		}
	}
}

// errEnough says that nobody wants to hear more.
var errEnough = errors.New("enough")

// checker is one run of Verify.
type checker struct {
	db    *DB
	ctx   context.Context
	v     Verification
	told  map[object.ID]bool // objects that were reported, the first of them
	yield func(Fault, error) bool
	over  bool

	unread bool // the refs or the journals cannot be listed, which was reported
}

// report passes a fault on.
func (c *checker) report(f Fault) error {
	if c.over {
		return errEnough
	}
	if !f.ID.IsZero() {
		if c.told[f.ID] {
			return nil
		}
		if len(c.told) < maxTold {
			c.told[f.ID] = true
		}
	}
	if !c.yield(f, nil) {
		c.over = true
		return errEnough
	}
	return c.ctx.Err()
}

// maxTold bounds the memory for what was reported; beyond it an object may be
// reported twice.
const maxTold = 10000

func (c *checker) all() error {
	for _, step := range []func() error{c.layout, c.lock, c.files, c.packs, c.looseObjects, c.refs, c.journals, c.reachable} {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) lock() error {
	path := c.db.path(holderFile)
	if h := readHolder(path); h.PID != 0 && h.foreign() {
		return c.report(Fault{
			Kind: FaultLock, Path: path, Err: fmt.Errorf("locked by %s", h),
			Repair: "remove the record; only if that machine is gone or does nothing here",
		})
	}
	return nil
}

func (c *checker) looseObjects() error {
	ids, err := c.db.allLoose()
	if err != nil {
		return c.report(Fault{Kind: FaultUnknown, Path: c.db.path("objects"), Err: err})
	}
	for _, id := range ids {
		o := c.db.loose(id)
		err := o.Check()
		if err == nil && !c.v.Quick {
			err = pack.ReadThrough(o, id)
		}
		if err == nil || errors.Is(err, errAbsent) {
			if cerr := c.ctx.Err(); cerr != nil {
				return cerr
			}
			continue
		}
		if err := c.report(Fault{Kind: FaultObject, Path: o.path, ID: id, Err: err, Repair: repairAside}); err != nil {
			return err
		}
	}
	return nil
}

const repairAside = "set it aside"

func (c *checker) refs() error {
	refs, err := c.db.Refs("")
	if err != nil {
		c.unread = true
		return c.report(Fault{Kind: FaultRef, Path: c.db.path("packed-refs"), Err: err})
	}
	for _, r := range refs {
		f := Fault{Kind: FaultRef, Ref: r.Name, Path: c.db.refPath(r.Name), Err: r.Err, Repair: "set it aside; a packed value that it hides comes back, or the newest checkpoint of its line takes its place"}
		switch {
		case r.Err != nil && (r.isLine() || fileMissing(f.Path) || isDir(f.Path)):
			f.Path, f.Repair = c.db.path("packed-refs"), "set the file aside and keep what can be read of it"
		case r.Err == nil:
			ok, err := c.db.Has(r.ID)
			if ok && err == nil {
				continue
			}
			f = Fault{Kind: FaultMissing, Ref: r.Name, ID: r.ID, Err: errors.Join(err, fmt.Errorf("ref %s: object %s: %w", r.Name, r.ID, ErrNotFound))}
		}
		if err := c.report(f); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) journals() error {
	journals, err := c.db.Journals()
	if err != nil {
		return c.report(Fault{Kind: FaultJournal, Path: c.db.path(journalDir), Err: err})
	}
	for _, j := range journals {
		if j.Err == nil {
			continue
		}
		if err := c.report(Fault{Kind: FaultJournal, Path: c.db.path(journalDir, j.Name), Err: j.Err, Repair: repairAside}); err != nil {
			return err
		}
	}
	return nil
}

// reachable looks for what is needed and not there.
func (c *checker) reachable() error {
	if c.v.Quick {
		return nil
	}
	if err := c.db.refresh(true); err != nil {
		return err
	}
	loose, err := c.db.allLoose()
	if err != nil {
		return err
	}
	all, err := newCensus(c.db.packs.Load().packs, loose)
	if err != nil {
		return err
	}
	m := newMarker(c.db, all)
	var stop error
	m.lost = func(f Fault) {
		if stop == nil {
			stop = c.report(f)
		}
	}
	m.setCut(nil)
	if _, err := m.markRoots(nil); err != nil {
		if c.unread {
			return nil // said already: what is needed cannot be told
		}
		return err
	}
	for _, id := range c.v.Roots {
		m.root(id, true, "root")
	}
	for len(m.stack) > 0 && stop == nil {
		if err := m.run(c.ctx, func() bool { return stop != nil }); err != nil {
			return err
		}
	}
	return stop
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func fileMissing(path string) bool {
	_, err := os.Lstat(path)
	return err != nil
}

// inside reports whether a path lies below the store.
func (db *DB) inside(path string) bool {
	rel, err := filepath.Rel(db.dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}
