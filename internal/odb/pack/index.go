package pack

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
	IndexHeadSize = 8 + 256*4 // magic, version, fan-out
	idSize        = len(object.ID{})
	IndexTailSize = 2 * sha1.Size // checksum of the pack, checksum of the index
	offsetBit     = 1 << 31       // marks an offset that is an index into the table of large ones
)

var idxMagic = [8]byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}

// idxInMemory is the size of the largest index that is read whole and whose checksum is
// compared: 4,600 objects, 0.1 ms. A larger index is searched in its file: one read rules an
// object out, two reads find it. A flipped bit there makes an object missing, or makes its
// contents fail the comparison with the id. See also searched. Files are not mapped: if another process
// truncates a mapped file, reading it kills this one.
const idxInMemory = 128 << 10

// Index is an open pack index.
type Index struct {
	N       int
	fanout  [256]uint32
	src     io.ReaderAt
	data    []byte // the whole file, or nil
	size    int64
	packSum [sha1.Size]byte
}

// openIndex checks the frame of an index of size bytes: magic, fan-out, sizes of
// the tables, and the checksum if it is small.
func openIndex(src io.ReaderAt, size int64) (*Index, error) {
	return readIndex(src, size, size <= idxInMemory)
}

// readIndex is openIndex for an index that is read whole, or not.
func readIndex(src io.ReaderAt, size int64, whole bool) (*Index, error) {
	x := &Index{src: src, size: size}
	if size < IndexHeadSize+int64(IndexTailSize) {
		return nil, Corrupt("pack index of %d bytes", size)
	}
	if whole {
		data, err := x.bytes(0, int(size), make([]byte, size))
		if err != nil {
			return nil, err
		}
		x.data = data
	}
	if err := x.readHead(); err != nil {
		return nil, err
	}
	large := size - IndexHeadSize - int64(IndexTailSize) - int64(x.N)*int64(idSize+8)
	if large < 0 || large%8 != 0 || large > 8*int64(x.N) {
		return nil, Corrupt("pack index of %d bytes for %d objects", size, x.N)
	}
	return x, x.readTail()
}

func (x *Index) readHead() error {
	head, err := x.bytes(0, IndexHeadSize, make([]byte, IndexHeadSize))
	if err != nil {
		return err
	}
	if [8]byte(head) != idxMagic {
		return Corrupt("not a pack index of version 2")
	}
	var previous uint32
	for i := range x.fanout {
		x.fanout[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if x.fanout[i] < previous {
			return Corrupt("pack index with a fan-out that decreases")
		}
		previous = x.fanout[i]
	}
	if uint64(previous) > math.MaxInt32 {
		return Corrupt("pack index of %d objects", previous)
	}
	x.N = int(previous)
	return nil
}

func (x *Index) readTail() error {
	tail, err := x.bytes(x.size-int64(IndexTailSize), IndexTailSize, make([]byte, IndexTailSize))
	if err != nil {
		return err
	}
	x.packSum = [sha1.Size]byte(tail)
	if x.data == nil {
		return nil
	}
	if sum := sha1.Sum(x.data[:x.size-sha1.Size]); !bytes.Equal(sum[:], tail[sha1.Size:]) {
		return Corrupt("pack index with a wrong checksum")
	}
	return nil
}

// bytes returns n bytes at off, in buf unless the index is in memory.
func (x *Index) bytes(off int64, n int, buf []byte) ([]byte, error) {
	if x.data != nil {
		return x.data[off : off+int64(n)], nil
	}
	return buf[:n], ReadAt(x.src, buf[:n], off)
}

// bucket returns the range of positions of the ids that begin with b.
func (x *Index) bucket(b byte) (lo, hi int) {
	if b > 0 {
		lo = int(x.fanout[b-1])
	}
	return lo, int(x.fanout[b])
}

func (x *Index) idsAt(pos, n int, buf []byte) ([]byte, error) {
	return x.bytes(IndexHeadSize+int64(pos)*int64(idSize), n*idSize, buf)
}

func (x *Index) id(pos int) (id object.ID, err error) {
	var buf [idSize]byte
	at, err := x.idsAt(pos, 1, buf[:])
	copy(id[:], at)
	return id, err
}

func (x *Index) offset(pos int) (int64, error) {
	var buf [4]byte
	b, err := x.bytes(x.offsets()+4*int64(pos), 4, buf[:])
	if err != nil {
		return 0, err
	}
	return x.offsetOf(binary.BigEndian.Uint32(b))
}

// offsets returns the position of the table of offsets.
func (x *Index) offsets() int64 { return IndexHeadSize + int64(x.N)*int64(idSize+4) }

// offsetOf decodes an entry of the table of offsets.
func (x *Index) offsetOf(entry uint32) (int64, error) {
	if entry < offsetBit {
		return int64(entry), nil
	}
	at := x.offsets() + 4*int64(x.N) + 8*int64(entry-offsetBit)
	if at+8 > x.size-int64(IndexTailSize) {
		return 0, Corrupt("pack index refers to large offset %d", entry-offsetBit)
	}
	var buf [8]byte
	b, err := x.bytes(at, 8, buf[:])
	if err != nil {
		return 0, err
	}
	large := binary.BigEndian.Uint64(b)
	if large > math.MaxInt64 {
		return 0, Corrupt("pack index holds offset %d", large)
	}
	return int64(large), nil
}

// Row is the entry of an index for one object.
type Row struct {
	ID  object.ID
	CRC uint32 // of the entry in the pack, header included
	Off int64
}

// rowWindow is how many rows of a large index are read at once.
const rowWindow = 4096

// Each calls visit for every object, in the order of the ids.
func (x *Index) Each(visit func(Row)) error {
	var buf []byte
	if x.data == nil {
		buf = make([]byte, min(x.N, rowWindow)*(idSize+8))
	}
	rows := make([]Row, 0, min(x.N, rowWindow))
	for pos := 0; pos < x.N; pos += rowWindow {
		var err error
		if rows, err = x.appendRows(rows[:0], pos, min(rowWindow, x.N-pos), buf); err != nil {
			return err
		}
		for i := range rows {
			visit(rows[i])
		}
	}
	return nil
}

// Rows returns all objects in the order of the offsets.
func (x *Index) Rows() ([]Row, error) {
	rows := make([]Row, 0, x.N)
	if err := x.Each(func(r Row) { rows = append(rows, r) }); err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.Off, b.Off) })
	return rows, nil
}

// appendRows appends n rows from the position pos on; buf has room for them.
func (x *Index) appendRows(rows []Row, pos, n int, buf []byte) ([]Row, error) {
	var part [3][]byte // ids, checksums, offsets
	at, table := 0, int64(IndexHeadSize)
	for i, size := range []int{idSize, 4, 4} {
		var err error
		if part[i], err = x.bytes(table+int64(pos*size), n*size, buf[min(at, len(buf)):]); err != nil {
			return nil, err
		}
		at, table = at+n*size, table+int64(x.N*size)
	}
	for i := range n {
		off := int64(binary.BigEndian.Uint32(part[2][4*i:]))
		if off >= offsetBit {
			var err error
			if off, err = x.offset(pos + i); err != nil {
				return nil, err
			}
		}
		rows = append(rows, Row{object.ID(part[0][i*idSize:][:idSize]), binary.BigEndian.Uint32(part[1][4*i:]), off})
	}
	return rows, nil
}

// encodeIndex returns the index of a pack. It sorts rows by id. Offsets of at least large,
// which is at most 1<<31, go to the table of large offsets.
func encodeIndex(rows []Row, packSum [sha1.Size]byte, large int64) ([]byte, error) {
	slices.SortFunc(rows, func(a, b Row) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	out := make([]byte, 0, IndexHeadSize+len(rows)*(idSize+8)+IndexTailSize)
	out = append(out, idxMagic[:]...)
	out = appendFanout(out, rows)
	for i := range rows {
		out = append(out, rows[i].ID[:]...)
	}
	for i := range rows {
		out = binary.BigEndian.AppendUint32(out, rows[i].CRC)
	}
	var largeOffsets []byte
	for i := range rows {
		off := uint32(rows[i].Off)
		if rows[i].Off >= large {
			off = offsetBit | uint32(len(largeOffsets)/8)
			largeOffsets = binary.BigEndian.AppendUint64(largeOffsets, uint64(rows[i].Off))
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

func appendFanout(out []byte, rows []Row) []byte {
	n := 0
	for b := range 256 {
		for n < len(rows) && int(rows[n].ID[0]) == b {
			n++
		}
		out = binary.BigEndian.AppendUint32(out, uint32(n))
	}
	return out
}
