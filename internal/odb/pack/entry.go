package pack

import (
	"math"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// The kinds of pack entry that are not kinds of object.
const (
	OfsDelta object.Kind = 6 // base: an earlier entry, by distance
	RefDelta object.Kind = 7 // base: an object, by id
)

// Entry is the header of a pack entry.
type Entry struct {
	Kind    object.Kind
	Size    int64     // of the contents, or of the delta
	BaseOff int64     // of an OfsDelta, in the pack
	BaseID  object.ID // of a RefDelta
}

// MaxEntryHead is the longest header: a size of 64 bits and a base.
const MaxEntryHead = 10 + idSize

// ParseEntry decodes the header that begins buf, the bytes of a pack at off.
func ParseEntry(buf []byte, off int64) (e Entry, n int, err error) {
	if len(buf) == 0 {
		return e, 0, Corrupt("truncated entry")
	}
	e.Kind = object.Kind(buf[0] >> 4 & 7)
	size, shift := uint64(buf[0]&15), 4
	for n = 1; buf[n-1]&0x80 != 0; n++ {
		if n == len(buf) || shift > 56 { // 2^60 bytes are enough
			return e, 0, Corrupt("entry with an endless or truncated size")
		}
		size |= uint64(buf[n]&0x7f) << shift
		shift += 7
	}
	e.Size = int64(size)
	switch e.Kind {
	case object.Commit, object.Tree, object.Blob, object.Tag:
		return e, n, nil
	case RefDelta:
		if len(buf)-n < idSize {
			return e, 0, Corrupt("truncated delta entry")
		}
		n += copy(e.BaseID[:], buf[n:])
		return e, n, nil
	case OfsDelta:
		used, err := e.parseDistance(buf[n:], off)
		return e, n + used, err
	}
	return e, 0, Corrupt("entry of unknown kind %d", e.Kind)
}

func (e *Entry) parseDistance(buf []byte, off int64) (n int, err error) {
	var distance int64
	for {
		if n == len(buf) || distance >= math.MaxInt64>>8 {
			return 0, Corrupt("delta with an endless or truncated distance")
		}
		b := buf[n]
		n++
		distance = distance<<7 | int64(b&0x7f)
		if b&0x80 == 0 {
			break
		}
		distance++
	}
	if distance == 0 || distance > off-HeadSize {
		return 0, Corrupt("delta whose base lies outside the pack")
	}
	e.BaseOff = off - distance
	return n, nil
}

// appendEntryHead appends the header of an entry that is not a delta.
func appendEntryHead(dst []byte, k object.Kind, size int64) []byte {
	b := byte(k)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		dst = append(dst, b|0x80)
		b = byte(size & 0x7f)
	}
	return append(dst, b)
}

// AppendDeltaHead appends the header of a delta whose base lies distance before it.
func AppendDeltaHead(dst []byte, size, distance int64) []byte {
	dst = appendEntryHead(dst, OfsDelta, size)
	var digits [10]byte
	n := len(digits) - 1
	digits[n] = byte(distance & 0x7f)
	for distance >>= 7; distance > 0; distance >>= 7 {
		distance--
		n--
		digits[n] = 0x80 | byte(distance&0x7f)
	}
	return append(dst, digits[n:]...)
}
