package fsck

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/reach"
)

// FaultKind is the kind of a fault.
type FaultKind string

// The kinds of fault.
const (
	FaultPack      FaultKind = "pack"        // a pack is damaged or cut off
	FaultIndex     FaultKind = "pack index"  // the index of a pack is damaged or missing
	FaultObject    FaultKind = "object"      // an object cannot be read
	FaultMissing   FaultKind = "missing"     // an object that is needed is absent
	FaultRef       FaultKind = "ref"         // a ref is torn
	FaultJournal   FaultKind = "journal"     // a journal is torn
	FaultTemporary FaultKind = "temporary"   // a file that a dead writer left
	FaultUnknown   FaultKind = "unknown"     // a file that neither git nor cairn makes
	FaultLock      FaultKind = "lock"        // the record of a lock's holder on another machine
	FaultMode      FaultKind = "permissions" // other users may read or write
	FaultLayout    FaultKind = "layout"      // a file that every store has is missing or damaged
)

// Fault is one thing that is wrong with a store.
type Fault struct {
	Kind   FaultKind
	Path   string    // of the file, absolute; "" without a file
	Ref    string    // name of the ref, if the fault is about one
	ID     object.ID // of the object, if the fault is about one
	Err    error
	Repair string // what Repair would do, as a text; "" if nothing
}

// Options says what Verify looks at.
type Options struct {
	Roots []object.ID // objects that have to be whole, with everything that they lead to
	Quick bool        // only frames, checksums of indexes, refs and files; no contents

	// Progress, if not nil, is called at intervals with what is under way, check or mark, and how
	// many objects of how many are done.
	Progress func(phase string, done, total int, bytes int64)
}

// Verify looks at everything in the store and yields the faults one by one. It needs no lock;
// with the lock held nothing changes meanwhile. An error ends it: the store is gone, or ctx has
// ended. Memory does not depend on the damage.
//
// A damaged pack yields a FaultPack, which can be repaired, and a FaultObject for each of its
// lost objects, which cannot.
func Verify(ctx context.Context, db *odb.DB, opt Options) iter.Seq2[Fault, error] {
	return func(yield func(Fault, error) bool) {
		c := &checker{db: db, ctx: ctx, opt: opt, told: make(map[object.ID]bool), yield: yield}
		if err := c.all(); err != nil && !errors.Is(err, errEnough) {
			yield(Fault{}, err)
		}
	}
}

// errEnough says that the caller has stopped the iteration.
var errEnough = errors.New("enough")

// checker is one run of Verify.
type checker struct {
	db    *odb.DB
	ctx   context.Context
	opt   Options
	told  map[object.ID]bool // the first maxTold objects that were reported
	yield func(Fault, error) bool
	over  bool

	read, size int // objects of packs that were read, and all of them

	unlisted bool // the refs or the journals cannot be listed, which was reported
}

// path returns the path of a file of the store. name has slashes.
func (c *checker) path(name string) string { return storePath(c.db, name) }

// report yields a fault, once for each object.
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

// maxTold bounds the memory for reported objects. Further objects may be reported twice.
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
	if path, h, foreign := c.db.ForeignHolder(); foreign {
		return c.report(Fault{
			Kind: FaultLock, Path: path, Err: fmt.Errorf("locked by %s", h),
			Repair: "remove the record; only if that machine is gone or does nothing here",
		})
	}
	return nil
}

func (c *checker) looseObjects() error {
	ids, err := c.db.LooseObjects()
	if err != nil {
		return c.report(Fault{Kind: FaultUnknown, Path: c.path("objects"), Err: err})
	}
	for _, id := range ids {
		o := c.db.Loose(id)
		err := o.Check()
		if err == nil && !c.opt.Quick {
			err = pack.ReadThrough(o, id)
		}
		if err == nil || errors.Is(err, odb.ErrNotFound) {
			if cerr := c.ctx.Err(); cerr != nil {
				return cerr
			}
			continue
		}
		if err := c.report(Fault{Kind: FaultObject, Path: o.Path, ID: id, Err: err, Repair: repairAside}); err != nil {
			return err
		}
	}
	return nil
}

const repairAside = "set it aside"

func (c *checker) refs() error {
	refs, err := c.db.Refs("")
	if err != nil {
		c.unlisted = true
		return c.report(Fault{Kind: FaultRef, Path: c.path("packed-refs"), Err: err})
	}
	for _, r := range refs {
		f := Fault{
			Kind: FaultRef, Ref: r.Name, Path: c.path(r.Name), Err: r.Err,
			Repair: "set it aside; a packed value that it hides comes back, or the newest checkpoint of its line takes its place",
		}
		switch {
		case r.Err != nil && (r.IsLine() || fileMissing(f.Path) || isDir(f.Path)):
			f.Path, f.Repair = c.path("packed-refs"), "set the file aside and keep what can be read of it"
		case r.Err == nil:
			ok, err := c.db.Has(r.ID)
			if ok && err == nil {
				continue
			}
			f = Fault{
				Kind: FaultMissing, Ref: r.Name, ID: r.ID,
				Err: errors.Join(err, fmt.Errorf("ref %s: object %s: %w", r.Name, r.ID, odb.ErrNotFound)),
			}
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
		return c.report(Fault{Kind: FaultJournal, Path: c.path("cairn/journal"), Err: err})
	}
	for _, j := range journals {
		if j.Err == nil {
			continue
		}
		if err := c.report(Fault{Kind: FaultJournal, Path: c.db.JournalPath(j.Name), Err: j.Err, Repair: repairAside}); err != nil {
			return err
		}
	}
	return nil
}

// reachable reports objects that roots lead to and that cannot be read.
func (c *checker) reachable() error {
	if c.opt.Quick {
		return nil
	}
	all, _, _, err := reach.Objects(c.db)
	if err != nil {
		return err
	}
	m := reach.NewMarker(c.db, all)
	var stop error
	m.Lost = func(l reach.Loss) {
		if stop == nil {
			stop = c.report(faultOf(l))
		}
	}
	if c.opt.Progress != nil {
		m.Tell = func() { c.opt.Progress("mark", m.Marked, len(m.IDs), 0) }
	}
	m.CutAt(c.db, nil)
	if _, err := m.MarkRoots(c.db, nil); err != nil {
		if c.unlisted {
			return nil // reported already
		}
		return err
	}
	for _, id := range c.opt.Roots {
		m.Root(id, true, "root")
	}
	for !m.Done() && stop == nil {
		if err := m.Run(c.ctx, func() bool { return stop != nil }); err != nil {
			return err
		}
	}
	return stop
}

// faultOf is the fault of an object that a marker found lost.
func faultOf(l reach.Loss) Fault {
	kind := FaultObject
	if l.Missing {
		kind = FaultMissing
	}
	return Fault{Kind: kind, ID: l.ID, Err: l.Err}
}

// storePath returns the path of a file of a store. name has slashes.
func storePath(db *odb.DB, name string) string {
	return filepath.Join(db.Dir(), filepath.FromSlash(name))
}

// inside returns the path of a file inside the store, with slashes. ok is false for the store
// itself and for paths outside of it.
func inside(db *odb.DB, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(db.Dir(), path)
	return filepath.ToSlash(rel), err == nil && rel != "." && filepath.IsLocal(rel)
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
