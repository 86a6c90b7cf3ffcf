package odb

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Sizes of the parts of an index of version 2.
const (
	idxHead   = 8 + 256*4 // magic, version, fan-out
	idSize    = len(object.ID{})
	idxTail   = 2 * sha1.Size // checksum of the pack, checksum of the index
	offsetBit = 1 << 31       // marks an offset that is an index into the table of large ones
)

var idxMagic = [8]byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}

// idxInMemory is the size up to which an index is read whole and its checksum
// compared: 4,600 objects, 0.1 ms. Larger ones are searched where they lie: one read
// to know that an object is not there, two to know where it is, and what a flipped
// bit can do is make an object missing or its contents fail their comparison. They
// are not mapped: a mapping of a file that somebody truncates kills the process.
const idxInMemory = 128 << 10

// index is an open pack index.
type index struct {
	n       int
	fanout  [256]uint32
	src     io.ReaderAt
	data    []byte // the whole file, or nil
	size    int64
	packSum [sha1.Size]byte
}

// openIndex checks the frame of an index of size bytes: magic, fan-out, sizes of
// the tables, and the checksum if it is small.
func openIndex(src io.ReaderAt, size int64) (*index, error) {
	x := &index{src: src, size: size}
	if size < idxHead+int64(idxTail) {
		return nil, corrupt("pack index of %d bytes", size)
	}
	if size <= idxInMemory {
		data, err := x.bytes(0, int(size), make([]byte, size))
		if err != nil {
			return nil, err
		}
		x.data = data
	}
	if err := x.readHead(); err != nil {
		return nil, err
	}
	large := size - idxHead - int64(idxTail) - int64(x.n)*int64(idSize+8)
	if large < 0 || large%8 != 0 || large > 8*int64(x.n) {
		return nil, corrupt("pack index of %d bytes for %d objects", size, x.n)
	}
	return x, x.readTail()
}

func (x *index) readHead() error {
	head, err := x.bytes(0, idxHead, make([]byte, idxHead))
	if err != nil {
		return err
	}
	if [8]byte(head) != idxMagic {
		return corrupt("not a pack index of version 2")
	}
	var previous uint32
	for i := range x.fanout {
		x.fanout[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if x.fanout[i] < previous {
			return corrupt("pack index with a fan-out that decreases")
		}
		previous = x.fanout[i]
	}
	if uint64(previous) > math.MaxInt32 {
		return corrupt("pack index of %d objects", previous)
	}
	x.n = int(previous)
	return nil
}

func (x *index) readTail() error {
	tail, err := x.bytes(x.size-int64(idxTail), idxTail, make([]byte, idxTail))
	if err != nil {
		return err
	}
	x.packSum = [sha1.Size]byte(tail)
	if x.data == nil {
		return nil
	}
	if sum := sha1.Sum(x.data[:x.size-sha1.Size]); !bytes.Equal(sum[:], tail[sha1.Size:]) {
		return corrupt("pack index with a wrong checksum")
	}
	return nil
}

// bytes returns n bytes at off, in buf unless the index is in memory.
func (x *index) bytes(off int64, n int, buf []byte) ([]byte, error) {
	if x.data != nil {
		return x.data[off : off+int64(n)], nil
	}
	return buf[:n], readAt(x.src, buf[:n], off)
}

// bucket returns the range of positions of the ids that begin with b.
func (x *index) bucket(b byte) (lo, hi int) {
	if b > 0 {
		lo = int(x.fanout[b-1])
	}
	return lo, int(x.fanout[b])
}

func (x *index) idsAt(pos, n int, buf []byte) ([]byte, error) {
	return x.bytes(idxHead+int64(pos)*int64(idSize), n*idSize, buf)
}

func (x *index) id(pos int) (id object.ID, err error) {
	var buf [idSize]byte
	at, err := x.idsAt(pos, 1, buf[:])
	copy(id[:], at)
	return id, err
}

func (x *index) offset(pos int) (int64, error) {
	var buf [4]byte
	b, err := x.bytes(x.offsets()+4*int64(pos), 4, buf[:])
	if err != nil {
		return 0, err
	}
	return x.offsetOf(binary.BigEndian.Uint32(b))
}

// offsets is where the table of offsets begins.
func (x *index) offsets() int64 { return idxHead + int64(x.n)*int64(idSize+4) }

// offsetOf returns the offset that an entry of the table stands for.
func (x *index) offsetOf(entry uint32) (int64, error) {
	if entry < offsetBit {
		return int64(entry), nil
	}
	at := x.offsets() + 4*int64(x.n) + 8*int64(entry-offsetBit)
	if at+8 > x.size-int64(idxTail) {
		return 0, corrupt("pack index refers to large offset %d", entry-offsetBit)
	}
	var buf [8]byte
	b, err := x.bytes(at, 8, buf[:])
	if err != nil {
		return 0, err
	}
	large := binary.BigEndian.Uint64(b)
	if large > math.MaxInt64 {
		return 0, corrupt("pack index holds offset %d", large)
	}
	return int64(large), nil
}

// row is what an index says about one object.
type row struct {
	id  object.ID
	crc uint32 // of the entry as it lies in the pack, header included
	off int64
}

// rowWindow is how many rows of a large index are read at once.
const rowWindow = 4096

// each calls visit with what the index says, in the order of the ids.
func (x *index) each(visit func(row)) error {
	var buf []byte
	if x.data == nil {
		buf = make([]byte, min(x.n, rowWindow)*(idSize+8))
	}
	rows := make([]row, 0, min(x.n, rowWindow))
	for pos := 0; pos < x.n; pos += rowWindow {
		var err error
		if rows, err = x.appendRows(rows[:0], pos, min(rowWindow, x.n-pos), buf); err != nil {
			return err
		}
		for i := range rows {
			visit(rows[i])
		}
	}
	return nil
}

// rows returns the whole index in the order of the offsets.
func (x *index) rows() ([]row, error) {
	rows := make([]row, 0, x.n)
	if err := x.each(func(r row) { rows = append(rows, r) }); err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.off, b.off) })
	return rows, nil
}

// appendRows appends n rows from the position pos on; buf has room for them.
func (x *index) appendRows(rows []row, pos, n int, buf []byte) ([]row, error) {
	var part [3][]byte // ids, checksums, offsets
	at, table := 0, int64(idxHead)
	for i, size := range []int{idSize, 4, 4} {
		var err error
		if part[i], err = x.bytes(table+int64(pos*size), n*size, buf[min(at, len(buf)):]); err != nil {
			return nil, err
		}
		at, table = at+n*size, table+int64(x.n*size)
	}
	for i := range n {
		off := int64(binary.BigEndian.Uint32(part[2][4*i:]))
		if off >= offsetBit {
			var err error
			if off, err = x.offset(pos + i); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row{object.ID(part[0][i*idSize:][:idSize]), binary.BigEndian.Uint32(part[1][4*i:]), off})
	}
	return rows, nil
}

// encodeIndex returns the index of a pack. It sorts rows by id. Offsets from large
// on, at most 1<<31, go to the table of large ones.
func encodeIndex(rows []row, packSum [sha1.Size]byte, large int64) ([]byte, error) {
	slices.SortFunc(rows, func(a, b row) int { return bytes.Compare(a.id[:], b.id[:]) })
	out := make([]byte, 0, idxHead+len(rows)*(idSize+8)+idxTail)
	out = append(out, idxMagic[:]...)
	out = appendFanout(out, rows)
	for i := range rows {
		out = append(out, rows[i].id[:]...)
	}
	for i := range rows {
		out = binary.BigEndian.AppendUint32(out, rows[i].crc)
	}
	var largeOffsets []byte
	for i := range rows {
		off := uint32(rows[i].off)
		if rows[i].off >= large {
			off = offsetBit | uint32(len(largeOffsets)/8)
			largeOffsets = binary.BigEndian.AppendUint64(largeOffsets, uint64(rows[i].off))
		}
		out = binary.BigEndian.AppendUint32(out, off)
	}
	if len(rows) > math.MaxInt32 {
		return nil, fmt.Errorf("pack index of %d objects", len(rows))
	}
	out = append(append(out, largeOffsets...), packSum[:]...)
	sum := sha1.Sum(out)
	return append(out, sum[:]...), nil
}

func appendFanout(out []byte, rows []row) []byte {
	n := 0
	for b := range 256 {
		for n < len(rows) && int(rows[n].id[0]) == b {
			n++
		}
		out = binary.BigEndian.AppendUint32(out, uint32(n))
	}
	return out
}
