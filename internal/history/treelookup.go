package history

import (
	"context"
	"crypto/sha256"
	"iter"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// LongWalk is the number of checkpoints in a walk from which on an index pays.
const LongWalk = 100

// newestWithTree finds the newest checkpoint of each tree: in the lines first, then
// among the states that operations saved, then among what has a name or came from
// elsewhere.
func (r *Store) newestWithTree(ctx context.Context, trees map[object.ID]bool) ([]*Checkpoint, error) {
	found, err := r.newestInLines(ctx, trees)
	if err != nil || len(trees) == 0 {
		return found, err
	}
	for _, source := range []iter.Seq2[*Checkpoint, error]{r.operationStates(ctx), r.otherStates(ctx)} {
		for c, err := range source {
			if err != nil {
				return nil, err
			}
			if trees[c.tree] {
				delete(trees, c.tree)
				if c, err = r.ReadCheckpoint(c.id); err != nil {
					return nil, err
				}
				found = append(found, c)
			}
			if len(trees) == 0 {
				return found, nil
			}
		}
	}
	return found, nil
}

// otherStates yields every checkpoint that can be reached from a pin, an imported
// checkpoint or a line of another store, newest first. What cannot be read is left
// out: it may be damaged, but it is not this store's own history.
func (r *Store) otherStates(ctx context.Context) iter.Seq2[*Checkpoint, error] {
	return func(yield func(*Checkpoint, error) bool) {
		refs, err := r.refsBelow(RefPins, RefImported, RefRemotes)
		if err != nil {
			yield(nil, err)
			return
		}
		seen := make(map[object.ID]bool)
		tips := unseen(r.readTips(refs, r.ReadCheckpoint, nothing), seen)
		ancestors(ctx, tips, yield, func(c *Checkpoint) ([]*Checkpoint, error) {
			var before []*Checkpoint
			for _, id := range c.commit.Parents {
				if parent, err := r.ReadCheckpoint(id); err == nil {
					before = append(before, parent)
				}
			}
			return unseen(before, seen), nil
		})
	}
}

// newestInLines finds the newest checkpoint of each tree in the lines of days and
// sessions, and takes what it finds out of trees. That is what a walk over all comes to
// first, but where there is an index it goes no further back than to what that covers.
func (r *Store) newestInLines(ctx context.Context, trees map[object.ID]bool) ([]*Checkpoint, error) {
	refs, err := r.refsBelow(RefTracks, RefSessions, RefLost)
	if err != nil {
		return nil, err
	}
	places, current, ok := r.placesByIndex(ctx, refs, trees)
	if !ok {
		if places, err = r.placesByWalk(ctx, refs, trees, !current); err != nil {
			return nil, err
		}
	}
	var found []*Checkpoint
	for _, p := range places {
		c, err := r.ReadCheckpoint(p.id)
		if err != nil {
			return nil, err
		}
		delete(trees, p.tree)
		found = append(found, c)
	}
	return found, nil
}

// placesByWalk walks over all checkpoints. It also makes an index, if index is set and the walk is
// a long one.
func (r *Store) placesByWalk(ctx context.Context, refs []odb.Ref, trees map[object.ID]bool, index bool) (found []placed, err error) {
	ends, whole := r.endsOfLines()
	whole = whole && index && r.LongWalk > 0
	var all []placed
	missing := len(trees)
	for c, err := range r.walk(ctx, refs, r.outline, nothing) {
		if err != nil && missing > 0 {
			return nil, err
		}
		if whole = whole && err == nil; !whole && missing == 0 {
			break
		}
		p := placeOf(c)
		all = append(all, p)
		if trees[p.tree] && !slices.ContainsFunc(found, func(f placed) bool { return f.tree == p.tree }) {
			found = append(found, p)
			missing--
		}
		if missing == 0 && len(all) < r.LongWalk {
			return found, nil
		}
	}
	if whole && len(all) >= r.LongWalk {
		r.keepTreeIndex(newTreeIndex(ends, tipsOf(refs), all))
	}
	return found, nil
}

// placesByIndex walks over the checkpoints that are newer than the index. current is false if there
// is no index, or if a walk over all checkpoints might find another checkpoint first: something
// that the index covers may be gone, or times went back. With a current index, ok is false only if
// two checkpoints have the same second.
func (r *Store) placesByIndex(ctx context.Context, refs []odb.Ref, trees map[object.ID]bool) (found []placed, current, ok bool) {
	x := r.loadTreeIndex()
	ends, ok := r.endsOfLines()
	if x == nil || r.LongWalk == 0 || !ok || x.ends != ends {
		return nil, false, false
	}
	newer, ok := r.newerThan(ctx, x, refs)
	if !ok {
		return nil, false, false
	}
	for tree := range trees {
		p, ok := placeIn(x, newer, tree)
		if ok && p.when == several {
			return nil, true, false
		}
		if ok {
			found = append(found, p)
		}
	}
	if len(newer) >= r.LongWalk {
		r.keepTreeIndex(x.extend(ends, tipsOf(refs), newer))
	}
	return found, true, true
}

// newerThan returns the checkpoints that an index does not cover, newest first. ok reports whether
// the index is current.
func (r *Store) newerThan(ctx context.Context, x *treeIndex, refs []odb.Ref) (newer []placed, ok bool) {
	reached := make(map[object.ID]bool)
	known := func(id object.ID) bool {
		if x.isTip(id) {
			reached[id] = true
			return true
		}
		return x.covers(id)
	}
	for c, err := range r.walk(ctx, refs, r.outline, known) {
		if err != nil {
			return nil, false // a walk over all checkpoints returns the error, or goes on without the damaged line
		}
		newer = append(newer, placeOf(c))
	}
	ok = len(reached) == len(x.tips)/idLen && inOrder(newer) && (len(newer) == 0 || newer[len(newer)-1].when >= x.newest)
	return newer, ok
}

// placeIn finds the newest checkpoint with a tree among the newer ones and in the index.
func placeIn(x *treeIndex, newer []placed, tree object.ID) (p placed, ok bool) {
	for _, n := range newer {
		if n.tree == tree && ok && n.when == p.when {
			p.when = several
		}
		if n.tree == tree && !ok {
			p, ok = n, true
		}
	}
	old, known := x.find(tree)
	switch {
	case !ok:
		return old, known
	case known && old.when == p.when, known && old.when == several && p.when == x.newest:
		p.when = several
	}
	return p, true
}

// endsOfLines returns a checksum of the places where lines were cut. An index from before a cut
// covers checkpoints that are gone.
func (r *Store) endsOfLines() (sum [32]byte, ok bool) {
	ids, err := r.DB.Shallow()
	h := sha256.New()
	for _, id := range ids {
		h.Write(id[:])
	}
	return [32]byte(h.Sum(nil)), err == nil
}

func tipsOf(refs []odb.Ref) (tips []object.ID) {
	for _, ref := range refs {
		if ref.Err == nil {
			tips = append(tips, ref.ID)
		}
	}
	return tips
}

// loadTreeIndex returns the latest index, nil if there is none.
func (r *Store) loadTreeIndex() *treeIndex {
	if x := r.lookups.Load(); x != nil {
		return x
	}
	data, err := r.DB.ReadPrivate(odb.PrivateTrees)
	if err != nil {
		return nil
	}
	x := decodeTreeIndex(data)
	r.lookups.Store(x)
	return x
}

// keepTreeIndex stores an index, unless it is nil. If the file cannot be written, as in a read-only
// store, the next process makes the index again.
func (r *Store) keepTreeIndex(x *treeIndex) {
	if x == nil {
		return
	}
	r.lookups.Store(x)
	if err := r.DB.WriteCache(odb.PrivateTrees, x.encode()); err != nil {
		r.Log.Debug("index of trees not saved", "error", err)
	}
}
