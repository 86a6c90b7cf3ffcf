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
	others []*pack   // that cannot be read, or have too rarely been searched in vain
}

// When the ids of a pack are worth being read: at once where they are few, else after as
// many searches in vain as cost as much. One takes a system call.
const (
	fewIDs     = 1 << 10
	idsASearch = 1 << 10
)

// filterIDs is the room of the smallest filter, which takes 32 KB.
const filterIDs = 1 << 14

// idsOfPacks makes knownIDs for the packs as they are now.
type idsOfPacks struct {
	now atomic.Pointer[knownIDs] // nil = there is more to know

	mu     sync.Mutex
	filter *idFilter
	held   int // ids in the filter, with those of packs that are gone
}

// mayHold returns the packs of a set that may hold an object.
func (o *idsOfPacks) mayHold(packs []*pack, change uint64, id object.ID) []*pack {
	known := o.now.Load()
	if known == nil || known.change != change {
		known = o.look(packs, change)
	}
	if known.ids.mayHave(id) {
		return packs
	}
	return known.others
}

// missed takes down that a pack was searched in vain, and has the packs looked at again
// when one becomes worth it.
func (o *idsOfPacks) missed(p *pack) {
	x := p.idx.Load()
	if x == nil || x.n <= fewIDs {
		return
	}
	if n := p.misses.Add(1) * idsASearch; n < int64(x.n) || n-idsASearch >= int64(x.n) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now.Store(nil)
}

func (o *idsOfPacks) look(packs []*pack, change uint64) *knownIDs {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known := o.now.Load(); known != nil && known.change == change {
		return known
	}
	for _, p := range o.ripe(packs) {
		o.read(p)
	}
	known := &knownIDs{change: change, ids: o.filter}
	for _, p := range packs {
		if p.filter != o.filter {
			known.others = append(known.others, p)
		}
	}
	o.now.Store(known)
	return known
}

// ripe returns the packs whose ids are worth being read, and sees to a filter with room
// for these.
func (o *idsOfPacks) ripe(packs []*pack) (ripe []*pack) {
	all, more := 0, 0
	for _, p := range packs {
		x, err := p.index()
		if err != nil || x.n > fewIDs && p.misses.Load()*idsASearch < int64(x.n) {
			continue
		}
		ripe = append(ripe, p)
		all += x.n
		if p.filter != o.filter {
			more += x.n
		}
	}
	if o.filter == nil || o.held+more > o.filter.room {
		o.filter, o.held = newIDFilter(max(filterIDs, 2*all)), 0
	}
	return ripe
}

// read adds the ids of a pack to the filter, if it can and has not done so.
func (o *idsOfPacks) read(p *pack) {
	x, err := p.index()
	if err != nil || p.filter == o.filter {
		return
	}
	added, err := x.addTo(o.filter)
	if o.held += added; err == nil {
		p.filter = o.filter
	}
}
