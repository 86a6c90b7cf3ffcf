package git

import (
	"encoding/binary"
	"fmt"
)

// indexLink is the extension of a split index. It names the shared index and the entries of it that
// are deleted or replaced.
type indexLink struct {
	shared            []byte // checksum of the shared index, which is named after it
	deleted, replaced ewah   // over the entries of the shared index
}

// parseLink reads the extension; nil means that there is no shared index after all.
func parseLink(data []byte, idSize int) (*indexLink, error) {
	if len(data) < idSize {
		return nil, fmt.Errorf("%w: link extension is cut off", errIndex)
	}
	l := &indexLink{shared: data[:idSize]}
	if allZero(l.shared) {
		return nil, nil
	}
	if data = data[idSize:]; len(data) == 0 {
		return l, nil
	}
	var err error
	if l.deleted, data, err = parseEWAH(data); err == nil {
		l.replaced, data, err = parseEWAH(data)
	}
	if err == nil && len(data) > 0 {
		err = fmt.Errorf("%w: link extension is too long", errIndex)
	}
	return l, err
}

// join merges the entries of the shared index and the file's own. The first of
// those replace shared entries, whose names they may omit, in order; the rest are
// additions. Where both have an entry of one name and stage, the file's own counts.
func (l *indexLink) join(x *Index, shared, own []entryRef) ([]entryRef, error) {
	deleted, err := l.deleted.expand(len(shared))
	if err != nil {
		return nil, err
	}
	replaced, err := l.replaced.expand(len(shared))
	if err != nil {
		return nil, err
	}
	kept := make([]entryRef, 0, len(shared))
	for i, e := range shared {
		if replaced.has(i) {
			if len(own) == 0 {
				return nil, fmt.Errorf("%w: a replaced entry is missing", errIndex)
			}
			if e, err = replacement(x, e, own[0]); err != nil {
				return nil, err
			}
			own = own[1:]
		}
		if !deleted.has(i) {
			kept = append(kept, e)
		}
	}
	return mergeEntries(x, kept, own), nil
}

// replacement is own under the name of the shared entry e.
func replacement(x *Index, e, own entryRef) (entryRef, error) {
	if own.len > 0 && x.name(own) != x.name(e) {
		return entryRef{}, fmt.Errorf("%w: replaced entry %q has another name", errIndex, x.name(e))
	}
	own.name, own.len, own.nameIn = e.name, e.len, e.nameIn
	return own, nil
}

func mergeEntries(x *Index, kept, own []entryRef) []entryRef {
	merged := make([]entryRef, 0, len(kept)+len(own))
	for len(kept) > 0 && len(own) > 0 {
		c := x.compare(kept[0], own[0])
		if c < 0 {
			merged, kept = append(merged, kept[0]), kept[1:]
			continue
		}
		if c == 0 {
			kept = kept[1:]
		}
		merged, own = append(merged, own[0]), own[1:]
	}
	return append(append(merged, kept...), own...)
}

// ewah is a compressed bitmap as git's bitmap format document describes it: each
// marker word says how many words of equal bits follow, and how many literal ones.
type ewah []byte

// parseEWAH takes a bitmap off the front of data: its size in bits, the number of
// its words, the words, and the position of the last marker, which a reader does
// not need.
func parseEWAH(data []byte) (bitmap ewah, rest []byte, err error) {
	if len(data) < 12 {
		return nil, nil, fmt.Errorf("%w: bitmap is cut off", errIndex)
	}
	words := uint64(binary.BigEndian.Uint32(data[4:]))
	if words > uint64(len(data)-12)/8 {
		return nil, nil, fmt.Errorf("%w: bitmap is cut off", errIndex)
	}
	end := 8 + 8*int(words)
	return data[8:end], data[end+4:], nil
}

func (b ewah) word(i int) uint64 { return binary.BigEndian.Uint64(b[8*i:]) }

// expand decompresses a bitmap over n entries. A bit beyond them is an error.
func (b ewah) expand(n int) (bitset, error) {
	out := make(bitset, (n+63)/64)
	at := uint64(0) // in out
	for i, words := 0, len(b)/8; i < words; {
		marker := b.word(i)
		run, literals := marker>>1&0xffffffff, marker>>33
		i++
		if literals > uint64(words-i) {
			return nil, fmt.Errorf("%w: bitmap is cut off", errIndex)
		}
		if marker&1 != 0 && !out.fill(at, run) {
			return nil, errBitmap
		}
		at += run
		for range literals {
			if w := b.word(i); w != 0 && !out.set(at, w) {
				return nil, errBitmap
			}
			at++
			i++
		}
	}
	if n%64 != 0 && out[len(out)-1]>>(n%64) != 0 {
		return nil, errBitmap
	}
	return out, nil
}

var errBitmap = fmt.Errorf("%w: bitmap names entries that do not exist", errIndex)

type bitset []uint64

func (s bitset) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

// set stores a word, fill count words of ones; false means that s is too short.
func (s bitset) set(at, word uint64) bool {
	if at >= uint64(len(s)) {
		return false
	}
	s[at] = word
	return true
}

func (s bitset) fill(at, count uint64) bool {
	if at > uint64(len(s)) || count > uint64(len(s))-at {
		return false
	}
	for i := range count {
		s[at+i] = ^uint64(0)
	}
	return true
}
