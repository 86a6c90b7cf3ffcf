package odb

import (
	"context"
	"errors"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// FaultKind is what is wrong.
type FaultKind string

// The kinds of fault.
const (
	FaultPack      FaultKind = "pack"        // a pack is damaged or cut off
	FaultIndex     FaultKind = "pack index"  // the index of a pack is damaged or missing
	FaultObject    FaultKind = "object"      // an object cannot be read
	FaultMissing   FaultKind = "missing"     // a ref leads to an object that is not there
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
	Quick bool        // does not read contents: frames, indexes, refs and files only
}

// Verify looks at everything in the store and yields what is wrong, one by one. It
// needs no lock; with the lock held nothing changes meanwhile. An error ends it: the
// store cannot be looked at at all, or ctx has ended.
func (db *DB) Verify(ctx context.Context, v Verification) iter.Seq2[Fault, error] {
	return func(yield func(Fault, error) bool) { yield(Fault{}, errors.ErrUnsupported) }
}

// Repair does what the fault says. Nothing is thrown away: what cannot be used goes
// to cairn/damaged. Call it with the lock held, except for a FaultLock.
func (db *DB) Repair(ctx context.Context, f Fault) error {
	return errors.ErrUnsupported
}
