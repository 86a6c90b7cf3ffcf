package odb

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// ErrOvertaken is the answer of FoldAside.Install when the packs are not those any more
// that the new one takes the place of.
var ErrOvertaken = errors.New("the packs were changed by somebody else meanwhile")

// FoldAside is a fold whose new pack is written and flushed without the lock, while
// others go on. They wait for some renames then, and for no flush where the
// file system keeps these in order.
//
// Unlike Fold it leaves the redo log as it is. What that promised of the packs that are
// gone it still vouches for: after a loss of power they come back, which the next fold
// mends.
type FoldAside struct {
	db    *DB
	old   []*pack
	made  *sealed
	trash []string // what Close removes
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
			if made, err = db.sealAside(w); err == nil {
				return &FoldAside{db: db, old: old, made: made}, nil
			}
		}
		w.discard()
		if err != nil {
			return nil, err
		}
	}
}

// sealAside is seal for a pack that nobody waits for.
func (db *DB) sealAside(w *packWriter) (*sealed, error) {
	s, err := db.complete(w)
	if err != nil {
		return nil, err
	}
	for _, f := range []*os.File{s.pack, s.idx} {
		db.letPublish()
		if err := db.flush(f); err != nil {
			s.discard()
			return nil, err
		}
	}
	return s, nil
}

// letPublish returns when no publish of this DB waits for the disk. One that begins then
// waits for one flush more than its own. All at once would be done sooner, and hold up
// the publish for as long as they take.
func (db *DB) letPublish() {
	db.redo.mu.Lock()
	defer db.redo.mu.Unlock()
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
	return a.retire(old)
}

// retire takes packs out of the store. To remove a file may take as long as a publish, so
// that is left to Close.
func (a *FoldAside) retire(old []*pack) error {
	if onWindows { // where an open one cannot be renamed
		_, err := a.db.removePacks(old)
		return err
	}
	var err error
	for _, p := range old {
		files, rerr := p.retireOwn()
		a.trash, err = append(a.trash, files...), errors.Join(err, rerr)
	}
	a.db.forget(old) // only now, see removePacks
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

// Close removes what was not put in place, and what was taken away. It needs no lock; what
// somebody else has swept is gone.
func (a *FoldAside) Close() {
	a.made.discard()
	for _, path := range a.trash {
		os.Remove(path)
	}
}

// Unsettled reports whether the redo log is half full, as far as this DB knows.
func (db *DB) Unsettled() bool {
	db.redo.mu.Lock()
	defer db.redo.mu.Unlock()
	return db.redo.size > 0 && db.redo.tail.end >= db.redo.size/2
}

// SettleAside empties the redo log if it is half full, before a publish finds no room in
// it. What the log vouches for is flushed while others go on. They wait for the last few
// records, or for all that is left where they are so fast that the log is about to be full.
// It needs no lock.
func (db *DB) SettleAside(ctx context.Context) error {
	if !db.redoable() {
		return nil
	}
	for range settleRounds {
		rest, upTo, err := db.unsettled()
		if err != nil || len(rest) == 0 {
			return err
		}
		if err := db.flushAside(ctx, rest); err != nil {
			return err
		}
		db.redo.mu.Lock()
		db.redo.settled = upTo
		db.redo.mu.Unlock()
	}
	return nil
}

const (
	settleRounds = 8 // after which the next track begins it again
	lastRecords  = 2 // are flushed while others wait
)

// unsettled returns the records that have come since the last ones were flushed, and where
// they end. Where there are few it flushes these, too, and empties the log, which is
// enlarged then: who comes here writes a lot.
func (db *DB) unsettled() (rest []redoRecord, upTo redoTail, err error) {
	h, err := db.holdRedo()
	if h == nil {
		return nil, upTo, err
	}
	defer h.release()
	if h.tail.end < h.size/2 {
		return nil, upTo, nil
	}
	from := db.redo.settled
	if from.salt != h.tail.salt { // somebody has emptied it
		from = beginOf(h.tail.salt)
	}
	rest, upTo = h.recordsFrom(from)
	if len(rest) > lastRecords && h.tail.end < h.size*7/8 {
		return rest, upTo, nil
	}
	if err := db.flushPromised(rest); err != nil {
		return nil, upTo, err
	}
	if err := h.reset(); err != nil || h.size >= redoLarge {
		return nil, upTo, err
	}
	_ = h.enlarge() // where there is no room it stays as it is
	return nil, upTo, nil
}

// flushAside is flushPromised while others go on.
func (db *DB) flushAside(ctx context.Context, records []redoRecord) error {
	files, dirs := db.vouchedFor(records, nil)
	for _, list := range []struct {
		paths []string
		flush func(string) error
	}{{files, atomicfile.SyncFile}, {dirs, atomicfile.SyncDir}} {
		for pair := range slices.Chunk(list.paths, 2) { // a pack and its index
			db.letPublish()
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := flushEach(pair, list.flush); err != nil {
				return err
			}
		}
	}
	return nil
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
