package odb

import (
	"context"
	"errors"
	"slices"
)

// ErrOvertaken is the answer of FoldAside.Install when the packs are not those any more
// that the new one takes the place of.
var ErrOvertaken = errors.New("the packs were changed by somebody else meanwhile")

// FoldAside is a fold whose new pack is written and flushed without the lock, while
// others go on. They wait for some renames and removals then, and for no flush where the
// file system keeps these in order.
//
// Unlike Fold it leaves the redo log as it is. What that promised of the packs that are
// gone it still vouches for: after a loss of power they come back, which the next fold
// mends.
type FoldAside struct {
	db   *DB
	old  []*pack
	made *sealed
}

// Crowded reports whether there is a tier with so many times as many packs as Fold puts
// together. It goes by the packs that are known.
func (db *DB) Crowded(times int) bool { return len(db.fullTier(nil, times*foldAt)) > 0 }

// FoldAside writes the pack that is to take the place of those of the lowest full tier.
// It is nil where there is nothing to fold.
func (db *DB) FoldAside(ctx context.Context) (*FoldAside, error) {
	skip := make(map[*pack]bool)
	for {
		tier := db.fullTier(skip, foldAt)
		if tier == nil {
			return nil, nil
		}
		if tier = db.foldable(tier, skip); len(tier) < foldAt {
			continue
		}
		w := newPackWriter(db.path(packDir))
		old, _, err := copyPacks(ctx, w, tier, skip)
		if err == nil && len(old) > 1 {
			var made *sealed
			if made, err = db.seal(w); err == nil {
				return &FoldAside{db, old, made}, nil
			}
		}
		w.discard()
		if err != nil {
			return nil, err
		}
	}
}

// Install puts the new pack in place and takes the old ones away, unless any of these has
// gone meanwhile: then a cleaning may have dropped what the new one would bring back.
// In between record is called with the sorted names of the packs that will be there. Call
// Install with the lock held; after an error nothing has been taken away, or not all.
func (a *FoldAside) Install(record func(packs []string) error) error {
	if err := a.db.refresh(true); err != nil {
		return err
	}
	if a.disturbed() {
		return ErrOvertaken
	}
	p, err := a.db.rename(a.made)
	if err == nil && !a.db.inOrder() {
		err = a.db.syncDirs(a.db.path(packDir))
	}
	if err != nil {
		return err
	}
	old := otherThan(p, a.old)
	if err := record(a.db.namesWithout(old)); err != nil {
		return err
	}
	if err := a.db.keepLast(old); err != nil {
		return err
	}
	_, err = a.db.removePacks(old)
	return err
}

func (a *FoldAside) disturbed() bool {
	present := a.db.packs.Load().packs
	inMidx, err := midxNames(a.db.path(packDir))
	return err != nil || slices.ContainsFunc(a.old, func(p *pack) bool {
		return !slices.Contains(present, p) || p.isKept() || inMidx[p.name()]
	})
}

// keepLast empties the log if its last record is about one of the packs and does not hold
// it: where that pack is gone, it passes for a publish that never returned.
func (db *DB) keepLast(old []*pack) error {
	if !slices.ContainsFunc(old, func(p *pack) bool { return p.bytes() > redoMax/2 }) {
		return nil // the records hold them all
	}
	h, err := db.holdRedo()
	if h == nil {
		return err
	}
	defer h.release()
	records := h.scan()
	if len(records) == 0 {
		return nil
	}
	last := records[len(records)-1]
	if len(last.pack) > 0 || !slices.ContainsFunc(old, func(p *pack) bool { return p.name() == last.name }) {
		return nil
	}
	return h.settle()
}

// Close removes what was not put in place. It needs no lock.
func (a *FoldAside) Close() { a.made.discard() }

// SettleAside empties the redo log if it is half full, before a publish finds no room in
// it. What the log vouches for is flushed while others go on; they wait only if they were
// at work all the time, and the log is about to be full. It needs no lock.
func (db *DB) SettleAside() error {
	if !db.redoable() {
		return nil
	}
	var done settled
	for range settleRounds {
		rest, err := db.unsettled(&done)
		if err != nil || len(rest) == 0 {
			return err
		}
		if err := db.flushPromised(rest); err != nil {
			return err
		}
		done.records += len(rest)
	}
	done.last = true
	_, err := db.unsettled(&done)
	return err
}

// settleRounds is how often SettleAside flushes what has come meanwhile, without keeping
// anybody waiting.
const settleRounds = 2

// settled is how much of a log has been flushed.
type settled struct {
	salt    [redoSalt]byte
	records int
	last    bool // try
}

// unsettled returns what the log has promised beyond what is done. Where there is no more
// it empties the log, as it does at the last try if there soon will be no room.
func (db *DB) unsettled(done *settled) (rest []redoRecord, err error) {
	h, err := db.holdRedo()
	if h == nil {
		return nil, err
	}
	defer h.release()
	records := h.scan()
	if done.records == 0 {
		done.salt = h.tail.salt
	}
	switch {
	case h.tail.end < redoSize/2, h.tail.salt != done.salt:
		return nil, nil // somebody else has emptied it
	case len(records) == done.records:
		return nil, h.reset()
	case !done.last:
		return records[done.records:], nil
	case h.tail.end < redoSize*7/8:
		return nil, nil
	}
	if err := db.flushPromised(records[done.records:]); err != nil {
		return nil, err
	}
	return nil, h.reset()
}

func (db *DB) flushPromised(records []redoRecord) error {
	files, dirs := db.vouchedFor(records, nil)
	if err := flushPaths(files); err != nil {
		return err
	}
	return flushDirs(dirs)
}

// namesWithout returns the sorted names of the packs that are known but for some.
func (db *DB) namesWithout(gone []*pack) []string {
	var names []string
	for _, p := range db.packs.Load().packs {
		if !slices.Contains(gone, p) {
			names = append(names, p.name())
		}
	}
	slices.Sort(names)
	return names
}

// KnownPacks is PackNames without another look: what objects have been looked up in. Any
// of them may be gone.
func (db *DB) KnownPacks() []string {
	if !db.packs.Load().listed {
		return db.PackNames()
	}
	return db.namesWithout(nil)
}
