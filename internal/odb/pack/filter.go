package pack

import (
	"sync"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// filterState is a Filter for one list of packs.
type filterState struct {
	change uint64  // of the list of packs
	ids    *bloom  // ids of all packs except others
	others []*Pack // unreadable, or too few fruitless searches yet
}

// The ids of a small pack are read at once. The ids of a larger pack are read after as many
// fruitless searches as cost the same: a search takes a system call.
const (
	fewIDs     = 1 << 10
	idsASearch = 1 << 10
)

// filterIDs is the room of the smallest Bloom filter, which takes 32 KB.
const filterIDs = 1 << 14

// Filter tells which packs of a set need not be searched for an object, by a Bloom filter of
// their ids. Most objects that a batch is about to add are new, and captures leave dozens of
// small packs until they are folded: searching each takes as long as compressing a file.
// The zero value is ready.
type Filter struct {
	now atomic.Pointer[filterState] // nil = to be made again

	mu     sync.Mutex
	filter *bloom
	held   int // ids in the filter, including ids of packs that are gone
}

// MayHold returns the packs that may hold an object. change identifies the list of packs:
// another list has another number.
func (o *Filter) MayHold(packs []*Pack, change uint64, id object.ID) []*Pack {
	known := o.now.Load()
	if known == nil || known.change != change {
		known = o.look(packs, change)
	}
	if known.ids.mayHave(id) {
		return packs
	}
	return known.others
}

// Missed counts fruitless searches of p, and has the Bloom filter rebuilt when reading p's
// ids would have been cheaper.
func (o *Filter) Missed(p *Pack) {
	x := p.idx.Load()
	if x == nil || x.N <= fewIDs {
		return
	}
	if n := p.misses.Add(1) * idsASearch; n < int64(x.N) || n-idsASearch >= int64(x.N) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now.Store(nil)
}

func (o *Filter) look(packs []*Pack, change uint64) *filterState {
	o.mu.Lock()
	defer o.mu.Unlock()
	if known := o.now.Load(); known != nil && known.change == change {
		return known
	}
	for _, p := range o.ripe(packs) {
		o.read(p)
	}
	known := &filterState{change: change, ids: o.filter}
	for _, p := range packs {
		if p.filter != o.filter {
			known.others = append(known.others, p)
		}
	}
	o.now.Store(known)
	return known
}

// ripe returns the packs whose ids are worth reading. It makes a new Bloom filter if the
// present one has no room for them.
func (o *Filter) ripe(packs []*Pack) (ripe []*Pack) {
	all, more := 0, 0
	for _, p := range packs {
		x, err := p.Index()
		if err != nil || x.N > fewIDs && p.misses.Load()*idsASearch < int64(x.N) {
			continue
		}
		ripe = append(ripe, p)
		all += x.N
		if p.filter != o.filter {
			more += x.N
		}
	}
	if o.filter == nil || o.held+more > o.filter.room {
		o.filter, o.held = newBloom(max(filterIDs, 2*all)), 0
	}
	return ripe
}

// read adds the ids of a readable pack to the Bloom filter, once.
func (o *Filter) read(p *Pack) {
	x, err := p.Index()
	if err != nil || p.filter == o.filter {
		return
	}
	added, err := x.addTo(o.filter)
	if o.held += added; err == nil {
		p.filter = o.filter
	}
}
