package index

import (
	"encoding/binary"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// record is the unit of both files: the base holds one, the delta one for each save. The encoding
// is the caller's data, pack names, summary, removed paths, blocks and, if there are any, patches,
// in this order. The length precedes every list and string.
type record struct {
	aux     []byte
	packs   []string
	summary *summary
	removed []string // before dirs, so that a directory can go and come back in one save
	dirs    []*Dir
	patches []patch // only in a delta; their directories are in none of the lists
}

// minDir is the size of a block without path and entries.
const minDir = 4 + len(object.ID{}) + sealSize + 4

func (rec *record) size() int {
	size := 4 + len(rec.aux) + 4 + 4 + 4 + rec.summary.size()
	for _, list := range [...][]string{rec.packs, rec.removed} {
		for _, s := range list {
			size += 4 + len(s)
		}
	}
	for _, d := range rec.dirs {
		size += minDir + len(d.Path) + len(d.Raw)
	}
	if len(rec.patches) > 0 {
		size += 4
	}
	for i := range rec.patches {
		size += rec.patches[i].size()
	}
	return size
}

func (rec *record) append(out []byte) []byte {
	out = rec.appendHead(out)
	for _, d := range rec.dirs {
		out = d.append(out)
	}
	if len(rec.patches) > 0 {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(rec.patches)))
	}
	for i := range rec.patches {
		out = rec.patches[i].append(out)
	}
	return out
}

// appendHead appends everything except the blocks and patches.
func (rec *record) appendHead(out []byte) []byte {
	out = appendPiece(out, rec.aux)
	out = appendStrings(out, rec.packs)
	out = rec.summary.append(out)
	out = appendStrings(out, rec.removed)
	return binary.LittleEndian.AppendUint32(out, uint32(len(rec.dirs)))
}

func (d *Dir) append(out []byte) []byte {
	return d.appendBlock(appendPiece(out, d.Path))
}

// appendBlock appends everything except the path.
func (d *Dir) appendBlock(out []byte) []byte {
	out = append(out, d.Tree[:]...)
	out = d.Seal.append(out)
	return appendPiece(out, d.Raw)
}

func appendPiece[T string | []byte](out []byte, piece T) []byte {
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(piece))), piece...)
}

func appendStrings(out []byte, list []string) []byte {
	out = binary.LittleEndian.AppendUint32(out, uint32(len(list)))
	for _, s := range list {
		out = appendPiece(out, s)
	}
	return out
}

// decodeRecord is the inverse of append. The result shares data's memory.
func decodeRecord(data []byte) (rec record, err error) {
	r := reader{data: data}
	rec.aux = r.piece()
	rec.packs = r.strings()
	rec.summary = decodeSummary(r.piece())
	rec.removed = r.strings()
	dirs := make([]Dir, r.count(minDir))
	rec.dirs = make([]*Dir, len(dirs))
	for i := range dirs {
		d := &dirs[i]
		r.blockTo(d)
		if err := checkBlock(d.Raw); err != nil {
			return record{}, err
		}
		rec.dirs[i] = d
	}
	if len(r.data) > 0 {
		if rec.patches, err = r.patches(); err != nil {
			return record{}, err
		}
	}
	if r.short || len(r.data) != 0 {
		return record{}, fmt.Errorf("%w: record", ErrMalformed)
	}
	return rec, nil
}

// blockTo is the inverse of Dir.append.
func (r *reader) blockTo(d *Dir) {
	d.Path = r.path()
	copy(d.Tree[:], r.next(len(d.Tree)))
	d.Seal.decode(r.next(sealSize))
	d.Raw = r.piece()
}

// reader takes pieces from data. After a piece is missing it is short and returns nothing more.
type reader struct {
	data  []byte
	short bool

	before string // the last path
	room   []byte // its bytes, see Extend
}

func (r *reader) next(n int) []byte {
	if n > len(r.data) {
		r.data, r.short = nil, true
	}
	if r.short {
		return nil
	}
	piece := r.data[:n:n]
	r.data = r.data[n:]
	return piece
}

// count reads the length of a list whose items have at least size bytes. A length that exceeds the
// rest of the data is an error, so a false length allocates no more than a true one could.
func (r *reader) count(size int) int {
	b := r.next(4)
	if b == nil {
		return 0
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(r.data)/size) {
		r.data, r.short = nil, true
		return 0
	}
	return int(n)
}

func (r *reader) piece() []byte { return r.next(r.count(1)) }

func (r *reader) strings() []string {
	list := make([]string, r.count(4))
	for i := range list {
		list[i] = string(r.piece())
	}
	return list
}
