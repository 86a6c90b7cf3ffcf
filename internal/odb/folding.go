package odb

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Folding is a fold in two parts, so that captures go on while the new pack is written and flushed.
// The caller calls Install, and Discard in any case.
type Folding struct {
	db   *DB
	old  []*pack.Pack
	made *pack.Sealed
}

// BeginFold writes the pack that is to replace the packs of the lowest full tier. It returns nil if
// there is nothing to fold. It needs no lock and does not list the packs again.
func (db *DB) BeginFold(ctx context.Context) (*Folding, error) {
	skip := make(map[*pack.Pack]bool)
	for tier := db.nextTier(skip); tier != nil; tier = db.nextTier(skip) {
		w := db.NewPackWriter()
		old, _, err := copyPacks(ctx, w, tier, skip)
		if err == nil && len(old) > 1 {
			var made *pack.Sealed
			if made, err = db.SealPack(w); err == nil {
				return &Folding{db: db, old: old, made: made}, nil
			}
		}
		w.Discard()
		if err != nil {
			return nil, fmt.Errorf("fold packs: %w", err)
		}
	}
	return nil, nil
}

// Install puts the new pack in the place of the old ones. Call it with the lock held. ok reports that
// the new pack is in place. Nothing changes if one of the old packs is gone or has to stay by now: a
// cleaning may have dropped objects that the new pack would bring back.
//
// The redo log keeps its records of the old packs. After a loss of power a replay brings these packs
// back, and the next fold removes the copies.
func (f *Folding) Install() (ok bool, err error) {
	if err := f.db.refresh(true); err != nil {
		return false, err
	}
	if f.disturbed() {
		return false, nil
	}
	p, err := f.db.InstallPack(f.made)
	if err != nil {
		return false, err
	}
	old := otherThan(p, f.old)
	if err := f.db.endRecordsOf(old); err != nil {
		return true, err
	}
	_, err = f.db.removePacks(old)
	return true, err
}

// disturbed reports whether one of the old packs is gone or has to stay.
func (f *Folding) disturbed() bool {
	present := f.db.packs.Load().packs
	gone := func(p *pack.Pack) bool { return !slices.Contains(present, p) }
	return slices.ContainsFunc(f.old, gone) || len(f.db.foldable(f.old, make(map[*pack.Pack]bool))) < len(f.old)
}

// Discard removes the new pack unless it was installed.
func (f *Folding) Discard() { f.made.Discard() }
