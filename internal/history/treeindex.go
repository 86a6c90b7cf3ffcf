package history

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"sort"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// treeIndex maps a tree to the newest checkpoint with it, for all checkpoints reachable from some
// tips. It is a cache: newestInLines checks whether it is current. It is immutable and replaced as
// a whole.
//
// Its file holds the magic, the fields in the order below, each list after its length, and a CRC-32
// of all of this.
type treeIndex struct {
	ends   [32]byte // checksum of the list of ends of lines when the index was made
	newest int64    // time of the newest checkpoint, in seconds
	tips   []byte   // sorted ids of the commits that refs named; everything reachable from them is covered
	ids    []byte   // sorted ids of the checkpoints
	trees  []byte   // sorted rows of treeRow bytes
}

// A row of trees: the tree, the newest checkpoint with it, and its time in seconds. The time is
// several if some checkpoints with the tree have the same second, the precision of a commit: the
// order in which a walk meets them depends on where it begins.
const (
	idLen   = len(object.ID{})
	treeRow = 2*idLen + 8

	several = math.MinInt64

	treeIndexMagic = "CAIRNTR1"
)

// placed is the part of a checkpoint that an index stores.
type placed struct {
	id, tree object.ID
	when     int64
}

func placeOf(c *Checkpoint) placed { return placed{c.id, c.tree, c.When.Unix()} }

// inOrder reports whether no time is later than the one before it.
func inOrder(walk []placed) bool {
	return slices.IsSortedFunc(walk, func(a, b placed) int { return cmp.Compare(b.when, a.when) })
}

// newTreeIndex makes an index of a whole walk. It returns nil if times go up and down in the walk:
// it is then not defined which of two checkpoints another walk meets first.
func newTreeIndex(ends [32]byte, tips []object.ID, walk []placed) *treeIndex {
	if !inOrder(walk) {
		return nil
	}
	x := &treeIndex{ends: ends}
	if len(walk) > 0 {
		x.newest = walk[0].when
	}
	tips = slices.Clone(tips)
	slices.SortFunc(tips, func(a, b object.ID) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range slices.Compact(tips) {
		x.tips = append(x.tips, id[:]...)
	}
	first := make(map[object.ID]placed, len(walk))
	for _, p := range walk {
		x.ids = append(x.ids, p.id[:]...)
		if f, ok := first[p.tree]; !ok {
			first[p.tree] = p
		} else if f.when == p.when {
			f.when = several
			first[p.tree] = f
		}
	}
	var rows [][]byte
	for _, p := range first {
		rows = append(rows, binary.LittleEndian.AppendUint64(slices.Concat(p.tree[:], p.id[:]), uint64(p.when)))
	}
	x.ids = sortedRows(slices.Collect(slices.Chunk(x.ids, idLen)))
	x.trees = sortedRows(rows)
	return x
}

func sortedRows(rows [][]byte) []byte {
	slices.SortFunc(rows, bytes.Compare)
	return slices.Concat(rows...)
}

// extend adds checkpoints that are no older than any in the index. It returns nil in the case that
// newTreeIndex does.
func (x *treeIndex) extend(ends [32]byte, tips []object.ID, newer []placed) *treeIndex {
	y := newTreeIndex(ends, tips, newer)
	if y == nil {
		return nil
	}
	y.ids = sortedRows(append(slices.Collect(slices.Chunk(y.ids, idLen)), slices.Collect(slices.Chunk(x.ids, idLen))...))
	rows := slices.Collect(slices.Chunk(y.trees, treeRow))
	for row := range slices.Chunk(x.trees, treeRow) {
		if _, ok := findRow(y.trees, treeRow, object.ID(row)); !ok {
			rows = append(rows, row)
		}
	}
	y.trees, y.newest = sortedRows(rows), max(y.newest, x.newest)
	return y
}

// find returns the newest checkpoint with a tree. Its time may be several.
func (x *treeIndex) find(tree object.ID) (placed, bool) {
	row, ok := findRow(x.trees, treeRow, tree)
	if !ok {
		return placed{}, false
	}
	return placed{object.ID(row[idLen:]), tree, int64(binary.LittleEndian.Uint64(row[2*idLen:]))}, true
}

// isTip reports whether a ref named the commit when the index was made.
func (x *treeIndex) isTip(id object.ID) bool {
	_, ok := findRow(x.tips, idLen, id)
	return ok
}

// covers reports whether the index contains the checkpoint.
func (x *treeIndex) covers(id object.ID) bool {
	_, ok := findRow(x.ids, idLen, id)
	return ok
}

// findRow finds the row that begins with id among sorted rows of the given size.
func findRow(rows []byte, size int, id object.ID) ([]byte, bool) {
	n := len(rows) / size
	i := sort.Search(n, func(i int) bool { return bytes.Compare(rows[i*size:i*size+idLen], id[:]) >= 0 })
	if i == n || object.ID(rows[i*size:]) != id {
		return nil, false
	}
	return rows[i*size : (i+1)*size], true
}

func (x *treeIndex) encode() []byte {
	out := append([]byte(treeIndexMagic), x.ends[:]...)
	out = binary.LittleEndian.AppendUint64(out, uint64(x.newest))
	for _, list := range [][]byte{x.tips, x.ids, x.trees} {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(list))), list...)
	}
	return binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

// decodeTreeIndex returns nil for data that is not a whole index. The result shares data's memory.
func decodeTreeIndex(data []byte) *treeIndex {
	const head = len(treeIndexMagic) + 32 + 8
	if len(data) < head+4 || string(data[:len(treeIndexMagic)]) != treeIndexMagic {
		return nil
	}
	data, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if crc32.ChecksumIEEE(data) != sum {
		return nil
	}
	x := &treeIndex{newest: int64(binary.LittleEndian.Uint64(data[head-8:]))}
	copy(x.ends[:], data[len(treeIndexMagic):])
	data = data[head:]
	for _, list := range []struct {
		to   *[]byte
		size int
	}{{&x.tips, idLen}, {&x.ids, idLen}, {&x.trees, treeRow}} {
		if len(data) < 4 {
			return nil
		}
		n := binary.LittleEndian.Uint32(data)
		if data = data[4:]; uint64(n) > uint64(len(data)) || int(n)%list.size != 0 {
			return nil
		}
		*list.to, data = data[:n:n], data[n:]
	}
	if len(data) > 0 {
		return nil
	}
	return x
}
