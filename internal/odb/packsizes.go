package odb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// located says where in a pack the object lies that somebody asked for.
type located struct {
	off int64
	at  int32 // position in the question
}

// sizeReaders is how many goroutines read the heads of entries.
const sizeReaders = 2

// sizes fills in the sizes of the objects that the pack has of those in ids, at the
// positions that are ordered by id.
func (p *pack) sizes(ids []object.ID, ordered []int32, sizes []int64) {
	x, err := p.index()
	if err != nil {
		return
	}
	body, err := p.data()
	if err != nil {
		return
	}
	places := x.locate(ids, ordered)
	slices.SortFunc(places, func(a, b located) int { return cmp.Compare(a.off, b.off) })
	var wg sync.WaitGroup
	for part := range slices.Chunk(places, len(places)/sizeReaders+1) {
		wg.Go(func() {
			heads := headReader{src: body.src, end: body.end}
			for _, l := range part {
				if size, err := p.sizeAt(&heads, l.off); err == nil {
					sizes[l.at] = size
				}
			}
		})
	}
	wg.Wait()
}

func (p *pack) sizeAt(heads *headReader, off int64) (int64, error) {
	head, err := heads.at(off)
	if err != nil {
		return 0, err
	}
	e, _, err := parseEntry(head, off)
	if err != nil || e.kind < ofsDelta {
		return e.size, err
	}
	e, z, err := p.inflaterAt(off)
	if err != nil {
		return 0, err
	}
	defer z.release()
	return resultSize(e, z)
}

// headReader reads the heads of entries in ascending order: small objects lie so close
// together that one read is often enough for several.
type headReader struct {
	src    io.ReaderAt
	end    int64
	window [1 << 10]byte
	from   int64
	n      int
}

// at returns the bytes at off: a whole head, unless the entries end before.
func (h *headReader) at(off int64) ([]byte, error) {
	if off < packHead || off >= h.end {
		return nil, corrupt("entry at %d", off)
	}
	want := int(min(int64(maxEntryHead), h.end-off))
	if off < h.from || off+int64(want) > h.from+int64(h.n) {
		n := int(min(int64(len(h.window)), h.end-off))
		if err := readAt(h.src, h.window[:n], off); err != nil {
			return nil, err
		}
		h.from, h.n = off, n
	}
	return h.window[off-h.from:][:want], nil
}

// From this many ids of an index to one that is asked for, they are looked for one by
// one: to pass over them takes as long then as to search.
const sparse = 512

// locate returns where the objects lie that the pack has. ordered are the positions in
// ids to look for, ordered by id.
func (x *index) locate(ids []object.ID, ordered []int32) []located {
	var places []located
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

func (x *index) findAll(ids []object.ID, ordered []int32, places []located) []located {
	for _, i := range ordered {
		if off, ok, err := x.find(ids[i]); ok && err == nil {
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

// merge goes through the ids at lo to hi beside those that are asked for. Where the
// index cannot be read, or is not in order, objects count as missing.
func (w *idRun) merge(x *index, lo, hi int, ids []object.ID, ordered []int32, places []located) []located {
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
