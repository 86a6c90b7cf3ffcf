package pack

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// idWindow is how many ids of a large index are read at once.
const idWindow = 64

var idWindows = sync.Pool{New: func() any { return new([idWindow * idSize]byte) }}

// search returns the position of the first id that is not less than id, and whether
// it is that id.
func (x *Index) search(id object.ID) (pos int, found bool, err error) {
	lo, hi := x.bucket(id[0])
	if x.data != nil {
		pos, found = searchIDs(x.data[IndexHeadSize+lo*idSize:IndexHeadSize+hi*idSize], id)
		return lo + pos, found, nil
	}
	window := idWindows.Get().(*[idWindow * idSize]byte)
	defer idWindows.Put(window)
	guess := likely(id, lo, hi)
	for lo < hi {
		from := max(lo, min(guess-idWindow/2, hi-idWindow))
		n := min(idWindow, hi-from)
		ids, err := x.idsAt(from, n, window[:])
		if err != nil {
			return 0, false, err
		}
		switch pos, found = searchIDs(ids, id); {
		case found:
			return from + pos, true, nil
		case pos == 0:
			hi = from
		case pos == n:
			lo = from + n
		default:
			return from + pos, false, nil
		}
		guess = int(uint(lo+hi) / 2)
	}
	return lo, false, nil
}

// likely estimates the position of an id between lo and hi, whose ids begin with the same
// byte. Ids are hashes, so they are spread evenly: in an index of 100,000 objects nearly all
// are less than half a window from the estimate, and one read is enough.
func likely(id object.ID, lo, hi int) int {
	above, _ := bits.Mul64(binary.BigEndian.Uint64(id[1:]), uint64(hi-lo))
	return lo + int(above)
}

// searchIDs returns the position of the first of the sorted ids that is not less
// than id, and whether it is that id.
func searchIDs(ids []byte, id object.ID) (pos int, found bool) {
	lo, hi := 0, len(ids)/idSize
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		switch c := bytes.Compare(ids[mid*idSize:(mid+1)*idSize], id[:]); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// Find returns the offset of an object in the pack.
func (x *Index) Find(id object.ID) (off int64, ok bool, err error) {
	pos, ok, err := x.search(id)
	if !ok || err != nil {
		return 0, false, err
	}
	off, err = x.offset(pos)
	return off, err == nil, err
}

// Prefix returns the first ids of the pack, at most limit, that begin with prefix;
// low is the least of them that can be.
func (p *Pack) Prefix(prefix string, low object.ID, limit int) ([]object.ID, error) {
	if _, err := p.Body(); err != nil {
		return nil, err
	}
	x, err := p.Index()
	if err != nil {
		return nil, err
	}
	pos, _, err := x.search(low)
	var ids []object.ID
	for ; err == nil && pos < x.N && (limit <= 0 || len(ids) < limit); pos++ {
		var id object.ID
		if id, err = x.id(pos); err == nil && !strings.HasPrefix(id.String(), prefix) {
			break
		}
		ids = append(ids, id)
	}
	return ids, p.Wrap(IndexExt, err)
}
