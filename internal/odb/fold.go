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

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

const (
	// foldAt is how many packs of a tier are folded into one. A tier holds the packs of
	// 8^t to 8^(t+1)-1 objects. So n captures leave at most seven packs for each power
	// of eight in n, and each entry is copied once per tier.
	foldAt = 8

	// foldMaxBytes is the size of the largest pack that is folded. Larger packs are few,
	// and copying them would delay a capture.
	foldMaxBytes = 32 << 20
)

// Folded is the result of Fold.
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

// Fold keeps the number of packs small: whenever a tier holds eight packs that this package
// wrote, they become one. It copies entries as they are, and an object in several packs once. It
// leaves alone packs of git's, packs with a .keep file, packs in a multi-pack-index, large packs
// and damaged packs. Call it with the lock held.
//
// The new pack is on the disk before the first old one is removed. After a crash in between,
// objects are stored twice, and the next fold of that tier removes the copies. When ctx ends,
// Fold returns its error, and finished tiers stay folded.
func (db *DB) Fold(ctx context.Context) (Folded, error) {
	var done Folded
	if err := db.refresh(false); err != nil {
		return done, err
	}
	skip := make(map[*pack.Pack]bool)
	for tier := db.nextTier(skip); tier != nil; tier = db.nextTier(skip) {
		step, err := db.foldPacks(ctx, tier, skip)
		done.merge(step)
		if err != nil {
			return done, fmt.Errorf("fold packs: %w", err)
		}
	}
	return done, nil
}

// nextTier returns the packs of the lowest tier that can be folded, nil if there is none. It adds the
// packs that may not be folded to skip.
func (db *DB) nextTier(skip map[*pack.Pack]bool) []*pack.Pack {
	for {
		tier := db.fullTier(skip, foldAt)
		if tier == nil {
			return nil
		}
		if tier = db.foldable(tier, skip); len(tier) >= foldAt {
			return tier
		}
	}
}

// Crowded reports whether a tier holds so many times the number of packs at which Fold folds it.
// It does not list the packs again.
func (db *DB) Crowded(times int) bool { return len(db.fullTier(nil, times*foldAt)) > 0 }

// fullTier returns the packs of the lowest tier with at least full packs.
func (db *DB) fullTier(skip map[*pack.Pack]bool, full int) []*pack.Pack {
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
	return slices.DeleteFunc(slices.Clone(packs), func(p *pack.Pack) bool {
		t, ok := tierOf(p)
		return !ok || skip[p] || t != lowest
	})
}

// tierOf returns the tier of a pack. ok is false for a pack that another program wrote and for
// one that is known to be too large.
func tierOf(p *pack.Pack) (int, bool) {
	x, err := p.Index()
	if err != nil || p.Large.Load() || !p.Own() {
		return 0, false
	}
	return (bits.Len(uint(x.N)) - 1) / 3, true
}

// foldable returns the packs of a tier that may be folded, sorted by name, and adds the others to
// skip.
func (db *DB) foldable(tier []*pack.Pack, skip map[*pack.Pack]bool) []*pack.Pack {
	inMidx, err := pack.MidxNames(db.path(packDir))
	var fit []*pack.Pack
	for _, p := range tier {
		body, berr := p.Body()
		if berr == nil && body.End > foldMaxBytes {
			p.Large.Store(true) // otherwise its tier would seem full each time
		}
		_, kerr := os.Lstat(p.Stem + pack.KeepExt)
		if err != nil || berr != nil || p.Large.Load() || !errors.Is(kerr, fs.ErrNotExist) || inMidx[p.Name()] {
			skip[p] = true
			continue
		}
		fit = append(fit, p)
	}
	slices.SortFunc(fit, func(a, b *pack.Pack) int { return strings.Compare(a.Stem, b.Stem) })
	return fit
}

// foldPacks copies the entries of packs into a new pack, publishes it and removes the old packs.
// A pack whose entries differ from its index goes to skip and stays.
func (db *DB) foldPacks(ctx context.Context, packs []*pack.Pack, skip map[*pack.Pack]bool) (Folded, error) {
	w := pack.NewWriter(db.path(packDir))
	defer w.Discard()
	old, step, err := copyPacks(ctx, w, packs, skip)
	if err != nil || len(old) < 2 {
		return Folded{}, err
	}
	p, err := db.publishInstead(w, old)
	if err != nil {
		return Folded{}, err
	}
	step.Added = []string{p.Name()}
	step.Removed, err = db.removePacks(otherThan(p, old))
	return step, err
}

// otherThan leaves out the pack that was made of some packs: the new pack may be one of them.
func otherThan(made *pack.Pack, packs []*pack.Pack) []*pack.Pack {
	return slices.DeleteFunc(slices.Clone(packs), func(p *pack.Pack) bool { return p.Stem == made.Stem })
}

// copyPacks copies the entries of packs into w and returns the packs that it has copied.
func copyPacks(
	ctx context.Context, w *pack.Writer, packs []*pack.Pack, skip map[*pack.Pack]bool,
) (old []*pack.Pack, step Folded, err error) {
	m := pack.NewMerger(w, packs)
	for _, p := range packs {
		if err := ctx.Err(); err != nil {
			return nil, Folded{}, err
		}
		size, err := m.Add(p)
		if errors.Is(err, pack.ErrCorrupt) || errors.Is(err, pack.ErrGone) {
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

// removePacks removes packs that another pack has replaced, the index first: after a crash, a
// pack is left that no reader sees and that Sweep removes. On Windows a pack that another process
// has open stays until a later fold.
func (db *DB) removePacks(old []*pack.Pack) (removed []string, err error) {
	if onWindows {
		db.forget(old) // which closes them
	}
	for _, p := range old {
		rerr := os.Remove(p.Stem + pack.IndexExt)
		if rerr == nil {
			removed = append(removed, p.Name())
			rerr = os.Remove(p.Stem + pack.Ext)
		}
		err = errors.Join(err, atomicfile.IgnoreInUse(rerr))
	}
	// Only now: a reader that finds a pack closed lists the packs again, and must not find
	// the pack there.
	db.forget(old)
	return removed, err
}
