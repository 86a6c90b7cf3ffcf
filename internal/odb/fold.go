package odb

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/bits"
	"os"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

const (
	// foldAt is how many packs of a tier are folded into one. A tier holds the
	// packs of 8^t to 8^(t+1)-1 objects, so that n captures leave at most seven
	// packs for each power of eight in n, and each entry is copied once per tier.
	foldAt = 8

	// foldMaxBytes is the size of the largest pack that is folded. Larger ones are
	// few by the room that they take; copying them would hold up a capture.
	foldMaxBytes = 32 << 20
)

// Folded says what Fold did.
type Folded struct {
	Packs   int      // packs that were folded
	Objects int      // objects that were copied
	Bytes   int64    // size of the packs that were folded
	Added   []string // names of the packs that took their places
	Removed []string // names of the packs that are gone
}

func (f *Folded) merge(g Folded) {
	f.Packs += g.Packs
	f.Objects += g.Objects
	f.Bytes += g.Bytes
	f.Added = append(f.Added, g.Added...)
	f.Removed = append(f.Removed, g.Removed...)
}

// Fold keeps the number of packs small: whenever a tier holds eight packs that this
// package wrote, they become one. Entries are copied as they are; objects that are
// in several packs are copied once. Packs of git's, packs with a .keep file, packs
// that a multi-pack-index names, large and damaged ones are left alone. Call it
// with the lock held.
//
// The new pack is on the disk before the first old one is removed. A crash in
// between leaves objects twice, which the next fold of that tier mends. When ctx
// ends, what was folded so far stays folded, and its error is returned.
func (db *DB) Fold(ctx context.Context) (Folded, error) {
	var done Folded
	if err := db.refresh(false); err != nil {
		return done, err
	}
	skip := make(map[*pack]bool)
	for {
		tier := db.fullTier(skip, foldAt)
		if tier == nil {
			return done, nil
		}
		if tier = db.foldable(tier, skip); len(tier) < foldAt {
			continue // those left out are in skip now
		}
		step, err := db.foldPacks(ctx, tier, skip)
		done.merge(step)
		if err != nil {
			return done, fmt.Errorf("fold packs: %w", err)
		}
	}
}

// Crowded reports whether there is a tier with so many times as many packs as Fold puts
// together. It goes by the packs that are known.
func (db *DB) Crowded(times int) bool { return len(db.fullTier(nil, times*foldAt)) > 0 }

// fullTier returns the packs of the lowest tier that has at least so many.
func (db *DB) fullTier(skip map[*pack]bool, full int) []*pack {
	packs := db.packs.Load().packs
	if len(packs) < full {
		return nil
	}
	var sizes [bits.UintSize/3 + 1]int
	for _, p := range packs {
		if t, ok := p.tier(); ok && !skip[p] {
			sizes[t]++
		}
	}
	lowest := slices.IndexFunc(sizes[:], func(n int) bool { return n >= full })
	if lowest < 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(packs), func(p *pack) bool {
		t, ok := p.tier()
		return !ok || skip[p] || t != lowest
	})
}

// tier is the one that a pack belongs to, if this package wrote it and it is not known to
// be too large.
func (p *pack) tier() (int, bool) {
	x, err := p.index()
	if err != nil || p.large.Load() || !p.own() {
		return 0, false
	}
	return (bits.Len(uint(x.n)) - 1) / 3, true
}

// foldable returns those packs of a tier that may be folded, sorted by name, and
// puts the others into skip.
func (db *DB) foldable(tier []*pack, skip map[*pack]bool) []*pack {
	inMidx, err := midxNames(db.path(packDir))
	var fit []*pack
	for _, p := range tier {
		body, berr := p.data()
		if berr == nil && body.end > foldMaxBytes {
			p.large.Store(true) // otherwise its tier would seem full each time
		}
		_, kerr := os.Lstat(p.stem + keepExt)
		if err != nil || berr != nil || p.large.Load() || !errors.Is(kerr, fs.ErrNotExist) || inMidx[p.name()] {
			skip[p] = true
			continue
		}
		fit = append(fit, p)
	}
	slices.SortFunc(fit, func(a, b *pack) int { return strings.Compare(a.stem, b.stem) })
	return fit
}

// foldPacks copies the entries of packs into a new one, publishes it and removes
// the old ones. A pack whose entries are not as its index says goes to skip and
// stays.
func (db *DB) foldPacks(ctx context.Context, packs []*pack, skip map[*pack]bool) (Folded, error) {
	w := newPackWriter(db.path(packDir))
	defer w.discard()
	old, step, err := copyPacks(ctx, w, packs, skip)
	if err != nil || len(old) < 2 {
		return Folded{}, err
	}
	p, err := db.publishInstead(w, old)
	if err != nil {
		return Folded{}, err
	}
	step.Added = []string{p.name()}
	step.Removed, err = db.removePacks(otherThan(p, old))
	return step, err
}

// otherThan leaves out the pack that was made of some packs: it may turn out to be one of
// them.
func otherThan(made *pack, packs []*pack) []*pack {
	return slices.DeleteFunc(slices.Clone(packs), func(p *pack) bool { return p.stem == made.stem })
}

// copyPacks copies the entries of packs that are fit for it, which it returns.
func copyPacks(ctx context.Context, w *packWriter, packs []*pack, skip map[*pack]bool) (old []*pack, step Folded, err error) {
	c := foldCopier{w: w, seen: make(map[object.ID]bool)}
	w.room(roomOf(packs))
	for _, p := range packs {
		if err := ctx.Err(); err != nil {
			return nil, Folded{}, err
		}
		size, err := c.copyEntries(p)
		if errors.Is(err, ErrCorrupt) || errors.Is(err, errGone) {
			skip[p] = true
			continue
		}
		if err != nil {
			return nil, Folded{}, err
		}
		old = append(old, p)
		step.Bytes += size
	}
	step.Packs, step.Objects = len(old), len(w.rows)
	return old, step, nil
}

// roomOf is what the packs take together, as far as a pack is held in memory.
func roomOf(packs []*pack) (n int) {
	for _, p := range packs {
		if body, err := p.data(); err == nil {
			n = int(min(int64(n)+body.end, spillAt))
		}
	}
	return n
}

// foldCopier collects the entries of several packs in a new one.
type foldCopier struct {
	w    *packWriter
	seen map[object.ID]bool
	data []byte // of the pack that is copied
}

// copyEntries adds the entries of a pack that are not yet seen. It reads the pack
// whole: foldMaxBytes bounds it. Either all of it is good, or nothing is added.
func (c *foldCopier) copyEntries(p *pack) (size int64, err error) {
	x, err := p.index()
	if err != nil {
		return 0, err
	}
	body, err := p.data()
	if err != nil {
		return 0, err
	}
	rows, err := x.rows()
	if err != nil {
		return 0, p.wrap(idxExt, err)
	}
	data := slices.Grow(c.data[:0], int(body.end))[:body.end]
	c.data = data
	if err := readAt(body.src, data, 0); err != nil {
		return 0, p.wrap(packExt, err)
	}
	if err := checkEntries(data, rows); err != nil {
		return 0, p.wrap(packExt, err)
	}
	for i, r := range rows {
		if c.seen[r.id] {
			continue
		}
		c.seen[r.id] = true
		if err := c.w.add(r.id, r.crc, data[r.off:entryEnd(int64(len(data)), rows, i)]); err != nil {
			return 0, err
		}
	}
	return body.end, nil
}

// checkEntries compares a pack with its index: the entries follow each other without
// gaps, are what was written, and stand for themselves. Deltas would lose their bases.
func checkEntries(data []byte, rows []row) error {
	next := int64(packHead)
	for i, r := range rows {
		end := entryEnd(int64(len(data)), rows, i)
		if r.off != next || end <= r.off || end > int64(len(data)) {
			return corrupt("entry at %d where %d was expected", r.off, next)
		}
		if crc32.ChecksumIEEE(data[r.off:end]) != r.crc {
			return corrupt("entry at %d was altered", r.off)
		}
		e, _, err := parseEntry(data[r.off:end], r.off)
		if err != nil {
			return err
		}
		if e.kind >= ofsDelta {
			return corrupt("entry at %d is a delta", r.off)
		}
		next = end
	}
	if next != int64(len(data)) {
		return corrupt("entries end at %d, not at %d", next, len(data))
	}
	return nil
}

// entryEnd returns where the i-th entry ends, if the last one ends at end.
func entryEnd(end int64, rows []row, i int) int64 {
	if i+1 < len(rows) {
		return rows[i+1].off
	}
	return end
}

// removePacks removes packs that another has taken the place of, index first: what a
// crash leaves is a pack that nobody sees and Sweep finds. On Windows a pack that
// another process has open stays until a later fold.
func (db *DB) removePacks(old []*pack) (removed []string, err error) {
	if onWindows {
		db.forget(old) // which closes them
	}
	for _, p := range old {
		rerr := os.Remove(p.stem + idxExt)
		if rerr == nil {
			removed = append(removed, p.name())
			rerr = os.Remove(p.stem + packExt)
		}
		err = errors.Join(err, ignoreInUse(rerr))
	}
	// Only now: a reader that finds them closed lists the packs again, and must not
	// find them there.
	db.forget(old)
	return removed, err
}
