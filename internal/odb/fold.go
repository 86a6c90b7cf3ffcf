package odb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"slices"
	"strings"
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
		if t, ok := tierOf(p); ok && !skip[p] {
			sizes[t]++
		}
	}
	lowest := slices.IndexFunc(sizes[:], func(n int) bool { return n >= full })
	if lowest < 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(packs), func(p *pack) bool {
		t, ok := tierOf(p)
		return !ok || skip[p] || t != lowest
	})
}

// tierOf is the one that a pack belongs to, if this package wrote it and it is not known to
// be too large.
func tierOf(p *pack) (int, bool) {
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
	m := newMerger(w, packs)
	for _, p := range packs {
		if err := ctx.Err(); err != nil {
			return nil, Folded{}, err
		}
		size, err := m.add(p)
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
	step.Packs, step.Objects = len(old), w.Len()
	return old, step, nil
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
