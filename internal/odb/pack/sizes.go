package pack

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"
	"slices"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// located is the offset of an object that was asked for.
type located struct {
	off int64
	at  int32 // position in the question
}

// sizeReaders is how many goroutines read the heads of entries.
const sizeReaders = 2

// Sizes sets sizes[i] for each i in ordered whose ids[i] is in the pack. ordered holds
// positions in ids, sorted by id.
func (p *Pack) Sizes(ids []object.ID, ordered []int32, sizes []int64) {
	x, err := p.Index()
	if err != nil {
		return
	}
	body, err := p.Body()
	if err != nil {
		return
	}
	places := byOffset(x.locate(ids, ordered), body.End)
	var wg sync.WaitGroup
	for part := range slices.Chunk(places, len(places)/sizeReaders+1) {
		wg.Go(func() {
			heads := headReader{src: body.Src, end: body.End}
			for i, l := range part {
				if size, err := p.sizeAt(&heads, l.off, part[i:]); err == nil {
					sizes[l.at] = size
				}
			}
		})
	}
	wg.Wait()
}

// byOffset sorts places by the offset. end is above all of those of a sound pack.
func byOffset(places []located, end int64) []located {
	shift := bits.LeadingZeros64(uint64(end)) // fills the upper bits of a key
	keys := make([]Keyed, 0, len(places))
	for _, l := range places {
		if l.off < end {
			keys = append(keys, Keyed{Key: uint64(l.off) << shift, At: l.at})
		}
	}
	places = places[:0]
	for _, k := range SortSpread(keys, nil) {
		places = append(places, located{int64(k.Key >> shift), k.At})
	}
	return places
}

func (p *Pack) sizeAt(heads *headReader, off int64, next []located) (int64, error) {
	head, err := heads.at(off, next)
	if err != nil {
		return 0, err
	}
	e, n, err := ParseEntry(head, off)
	if err != nil || e.Kind < OfsDelta {
		return e.Size, err
	}
	if size, ok := resultSizeIn(head[n:]); ok {
		return size, nil
	}
	e, z, err := p.inflaterAt(off)
	if err != nil {
		return 0, err
	}
	defer z.Release()
	return resultSize(e, z)
}

// headReader reads the heads of entries in ascending order. It reads over small gaps, because to copy
// a few kilobytes takes less time than another system call.
type headReader struct {
	src    io.ReaderAt
	end    int64
	window [64 << 10]byte
	from   int64
	n      int
}

// headReach is as long as the header of an entry and the sizes at the beginning of a delta.
const headReach = int64(MaxEntryHead + ZlibReach)

// smallGap is a number of bytes that are copied in the time of a system call.
const smallGap = 8 << 10

// at returns the bytes at off: headReach of them, unless the entries end before. next are the places that
// are asked for from here on.
func (h *headReader) at(off int64, next []located) ([]byte, error) {
	if off < HeadSize || off >= h.end {
		return nil, Corrupt("entry at %d", off)
	}
	want := int(min(headReach, h.end-off))
	if off < h.from || off+int64(want) > h.from+int64(h.n) {
		n := int(min(h.reach(off, next), h.end-off))
		if err := ReadAt(h.src, h.window[:n], off); err != nil {
			return nil, err
		}
		h.from, h.n = off, n
	}
	return h.window[off-h.from:][:want], nil
}

// reach returns how many bytes to read at off.
func (h *headReader) reach(off int64, next []located) int64 {
	last := off
	for _, l := range next {
		if l.off-last > smallGap || l.off-off+headReach > int64(len(h.window)) {
			break
		}
		last = l.off
	}
	return last - off + headReach
}

// sparse is how many ids of an index there are to one that is asked for, from which on each
// is searched for: reading over the others takes longer.
const sparse = 512

// locate returns the offsets of the objects that are in the pack. ordered holds positions in
// ids, sorted by id.
func (x *Index) locate(ids []object.ID, ordered []int32) []located {
	places := make([]located, 0, len(ordered))
	var run idRun
	for len(ordered) > 0 {
		first := ids[ordered[0]][0]
		n := 1
		for n < len(ordered) && ids[ordered[n]][0] == first {
			n++
		}
		if lo, hi := x.bucket(first); hi-lo > sparse*n {
			places = x.findAll(ids, ordered[:n], places)
		} else {
			places = run.merge(x, lo, hi, ids, ordered[:n], places)
		}
		ordered = ordered[n:]
	}
	return places
}

func (x *Index) findAll(ids []object.ID, ordered []int32, places []located) []located {
	for _, i := range ordered {
		if off, ok, err := x.Find(ids[i]); ok && err == nil {
			places = append(places, located{off, i})
		}
	}
	return places
}

// idRun reads a run of ids, and of their offsets, of a large index.
type idRun struct {
	ids     [1 << 10 * idSize]byte
	offsets [1 << 10 * 4]byte
}

// merge walks the ids from lo to hi and the ids that are asked for in step. If the index
// cannot be read, or is not sorted, objects count as missing.
func (w *idRun) merge(x *Index, lo, hi int, ids []object.ID, ordered []int32, places []located) []located {
	for ; lo < hi && len(ordered) > 0; lo += len(w.ids) / idSize {
		n := min(hi-lo, len(w.ids)/idSize)
		run, err := x.idsAt(lo, n, w.ids[:])
		if err != nil {
			return places
		}
		offsets, err := x.bytes(x.offsets()+4*int64(lo), 4*n, w.offsets[:])
		if err != nil {
			return places
		}
		for at := 0; at < n && len(ordered) > 0; {
			switch c := bytes.Compare(run[at*idSize:][:idSize], ids[ordered[0]][:]); {
			case c < 0:
				at++
			case c > 0:
				ordered = ordered[1:]
			default:
				if off, err := x.offsetOf(binary.BigEndian.Uint32(offsets[4*at:])); err == nil {
					places = append(places, located{off, ordered[0]})
				}
				ordered = ordered[1:]
			}
		}
	}
	return places
}
