package odb

import (
	"sync"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// knownIDs says which packs need not be searched for an object that a batch is about to
// add. Most such objects are new, and captures leave dozens of small packs until they are
// folded: to search each takes as long as to compress a file.
type knownIDs struct {
	change uint64    // of the packs that it speaks of
	ids    *idFilter // of all packs but
	others []*pack   // the large ones, and those that cannot be read
}

// What a filter is about. One is 32 KB large.
const (
	fewIDs    = 1 << 10 // a pack of more objects has a filter of its own once that is worth it
	filterIDs = 1 << 14
)

// idsOfPacks makes knownIDs for the packs as they are now.
type idsOfPacks struct {
	now atomic.Pointer[knownIDs]

	mu    sync.Mutex
	added int // ids in the filter, with those of packs that are gone
	there int // without these, as of the last look
}

// mayHold returns the packs of a set that may hold an object.
func (o *idsOfPacks) mayHold(set *packSet, id object.ID) []*pack {
	known := o.now.Load()
	if known == nil || known.change != set.change {
		known = o.look(set)
	}
	if known.ids.mayHave(id) {
		return set.packs
	}
	return known.others
}

func (o *idsOfPacks) look(set *packSet) *knownIDs {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := &knownIDs{change: set.change}
	if last := o.now.Load(); last != nil && (o.added <= filterIDs || o.added <= 2*o.there) {
		known.ids = last.ids
	} else {
		known.ids, o.added = newIDFilter(filterIDs), 0
	}
	o.there = 0
	for _, p := range set.packs {
		if !o.know(p, known.ids) {
			known.others = append(known.others, p)
		}
	}
	o.now.Store(known)
	return known
}

// know sees to it that the filter has the ids of a pack, unless that is too large.
func (o *idsOfPacks) know(p *pack, ids *idFilter) bool {
	x, err := p.index()
	if err != nil || x.n > fewIDs {
		return false
	}
	if p.filter != ids {
		if err := x.addIDs(ids); err != nil {
			return false
		}
		p.filter, o.added = ids, o.added+x.n
	}
	o.there += x.n
	return true
}
