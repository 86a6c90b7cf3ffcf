package index

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// onMagic begins a base that only says how it differs from a shared one. After the id follow the id of the
// shared base, the size of the same index as a base of its own, the head of the record, and the blocks.
const (
	onMagic  = "CAIRNIS1"
	onHeader = 32
)

// Kinds of a block in such a base.
const (
	blockWhole = 0 // as in a base of its own
	blockLike  = 1 // the names of a block of the shared base, in the same order
)

// Flags of a block, and of an entry in it, that is like a shared one: what differs and follows.
const (
	otherTree  = 1
	otherRules = 2

	otherHead  = 1 // mode, flags and permission bits
	otherSize  = 2
	otherMTime = 4
	otherID    = 8
)

// Share links the base of another index to f.Shared, so that f's first base takes little room beside it.
// It reports whether there is one now. A base is never written to again: a new one takes its place.
func Share(f, other File) bool {
	for _, from := range []string{other.Base, other.Shared} {
		os.Remove(f.Shared)
		if from != "" && os.Link(from, f.Shared) == nil && beginsWith(f.Shared, baseMagic) {
			return true
		}
	}
	os.Remove(f.Shared)
	return false
}

func beginsWith(path, magic string) bool {
	file, err := atomicfile.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(file, head)
	return err == nil && string(head) == magic
}

// sharedBlocks reads a shared base. It returns the blocks, sorted by path, and the id of the base.
func sharedBlocks(path string) (dirs []*Dir, id uint64, err error) {
	data, err := readFile(path)
	if err != nil {
		return nil, 0, err
	}
	rec, id, err := readBase(data)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	return rec.dirs, id, nil
}

// last holds the values that differences are told from.
type last struct {
	pos        int // of the shared block
	ctime, ino int64
}

// writeOn writes the index as differences from the shared base. ok is false where there is none.
func (x *Index) writeOn(f File) (ok bool, err error) {
	dirs, shared, err := sharedBlocks(f.Shared)
	if err != nil {
		return false, nil // a base of its own serves as well
	}
	id, rec := newBaseID(), x.all()
	slices.SortFunc(rec.dirs, func(a, b *Dir) int { return strings.Compare(a.Path, b.Path) })
	le := binary.LittleEndian
	size := int64(headerLen + rec.size() + 4)
	out := le.AppendUint64(append(make([]byte, 0, size/6), onMagic...), id)
	out = le.AppendUint64(le.AppendUint64(out, shared), uint64(size))
	out = rec.appendHead(out)
	var l last
	for _, d := range rec.dirs {
		at, found := slices.BinarySearchFunc(dirs, d.Path, func(d *Dir, path string) int { return strings.Compare(d.Path, path) })
		if found && sameNames(d.Raw, dirs[at].Raw) {
			out = l.appendLike(append(out, blockLike), d, dirs[at], at)
		} else {
			out = d.append(append(out, blockWhole))
		}
	}
	out = le.AppendUint32(out, crc32.Checksum(out, crcTable))
	err = atomicfile.Write(f.Base, 0o600, false, func(w io.Writer) error {
		_, err := w.Write(out)
		return err
	})
	if err != nil {
		return false, err
	}
	x.setBase(id, size)
	return true, nil
}

// sameNames reports whether two blocks have the same names in the same order.
func sameNames(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for {
		var x, y Record
		x, a = Next(a)
		y, b = Next(b)
		if x == nil || y == nil {
			return x == nil && y == nil
		}
		if string(x.Name()) != string(y.Name()) {
			return false
		}
	}
}

// appendLike appends a block as the differences from a shared one.
func (l *last) appendLike(out []byte, d, like *Dir, pos int) []byte {
	out = binary.AppendVarint(out, int64(pos-l.pos))
	l.pos = pos
	flags := len(out)
	out = append(out, 0)
	if d.Tree != like.Tree {
		out[flags] |= otherTree
		out = append(out, d.Tree[:]...)
	}
	if d.Seal.Rules != like.Seal.Rules {
		out[flags] |= otherRules
		out = binary.LittleEndian.AppendUint64(out, d.Seal.Rules)
	}
	out = binary.AppendVarint(out, d.Seal.CTime-l.ctime)
	out = binary.AppendVarint(out, d.Seal.MTime-d.Seal.CTime)
	out = binary.AppendVarint(out, int64(d.Seal.Ino)-l.ino)
	for raw, of := d.Raw, like.Raw; len(raw) > 0; {
		var rec, shared Record
		rec, raw = Next(raw)
		shared, of = Next(of)
		out = l.appendEntry(out, rec, shared)
	}
	return out
}

// appendEntry appends an entry as the differences from a shared one and from the entry before.
func (l *last) appendEntry(out []byte, rec, shared Record) []byte {
	flags := len(out)
	out = append(out, 0)
	for _, part := range entryParts {
		if string(rec[part.from:part.to]) != string(shared[part.from:part.to]) {
			out[flags] |= part.flag
			out = append(out, rec[part.from:part.to]...)
		}
	}
	st := rec.Stat()
	out = binary.AppendVarint(out, st.CTime-l.ctime)
	out = binary.AppendVarint(out, int64(st.Ino)-l.ino)
	l.ctime, l.ino = st.CTime, int64(st.Ino)
	return out
}

// entryParts are the parts of an entry that follow where they differ. The length of the name is none of
// them, because it is the same.
var entryParts = [...]struct {
	flag     byte
	from, to int
}{{otherHead, offMode, offLen}, {otherSize, offSize, offMTime}, {otherMTime, offMTime, offCTime}, {otherID, offID, offName}}

// decodeOn reads a base that was written by writeOn.
func (x *Index) decodeOn(data []byte, f File) error {
	if len(data) < onHeader+4 {
		return fmt.Errorf("%w: no header", ErrMalformed)
	}
	le := binary.LittleEndian
	body, sum := data[:len(data)-4], le.Uint32(data[len(data)-4:])
	if crc32.Checksum(body, crcTable) != sum {
		return fmt.Errorf("%w: checksum", ErrMalformed)
	}
	like, shared, err := sharedBlocks(f.Shared)
	if err == nil && shared != le.Uint64(body[16:]) {
		err = fmt.Errorf("%w: another one", fs.ErrInvalid)
	}
	if err != nil {
		return fmt.Errorf("%w: the base that it was written beside: %w", ErrMalformed, err)
	}
	r := reader{data: body[onHeader:]}
	rec := record{aux: r.piece(), packs: r.strings(), summary: decodeSummary(r.piece()), removed: r.strings()}
	rec.dirs = make([]*Dir, r.count(1))
	var l last
	for i := range rec.dirs {
		d, err := l.decodeBlock(&r, like)
		if err != nil {
			return err
		}
		rec.dirs[i] = d
	}
	if r.short || len(r.data) != 0 {
		return fmt.Errorf("%w: record", ErrMalformed)
	}
	x.Dirs = make(map[string]*Dir, len(rec.dirs))
	x.apply(&rec)
	x.setBase(le.Uint64(body[len(onMagic):]), int64(le.Uint64(body[24:])))
	return nil
}

func (l *last) decodeBlock(r *reader, like []*Dir) (*Dir, error) {
	d := new(Dir)
	switch r.byte() {
	case blockWhole:
		r.blockTo(d)
	case blockLike:
		l.pos += int(r.varint())
		if l.pos < 0 || l.pos >= len(like) {
			return nil, fmt.Errorf("%w: a block like none", ErrMalformed)
		}
		d = l.decodeLike(r, like[l.pos])
	default:
		return nil, fmt.Errorf("%w: kind of a block", ErrMalformed)
	}
	if r.short {
		return nil, fmt.Errorf("%w: record", ErrMalformed)
	}
	return d, checkBlock(d.Raw)
}

// decodeLike is the inverse of appendLike.
func (l *last) decodeLike(r *reader, like *Dir) *Dir {
	d := &Dir{Path: like.Path, Tree: like.Tree, Seal: like.Seal, Raw: slices.Clone(like.Raw)}
	flags := r.byte()
	if flags&otherTree != 0 {
		copy(d.Tree[:], r.next(len(d.Tree)))
	}
	if flags&otherRules != 0 {
		d.Seal.Rules = r.uint64()
	}
	d.Seal.CTime = l.ctime + r.varint()
	d.Seal.MTime = d.Seal.CTime + r.varint()
	d.Seal.Ino = uint64(l.ino + r.varint())
	for raw := d.Raw; len(raw) > 0 && !r.short; {
		var rec Record
		rec, raw = Next(raw)
		l.decodeEntry(r, rec)
	}
	return d
}

// decodeEntry is the inverse of appendEntry.
func (l *last) decodeEntry(r *reader, rec Record) {
	flags := r.byte()
	for _, part := range entryParts {
		if flags&part.flag != 0 {
			copy(rec[part.from:part.to], r.next(part.to-part.from))
		}
	}
	l.ctime += r.varint()
	l.ino += r.varint()
	binary.LittleEndian.PutUint64(rec[offCTime:], uint64(l.ctime))
	binary.LittleEndian.PutUint64(rec[offIno:], uint64(l.ino))
}

func (r *reader) byte() byte {
	if b := r.next(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.next(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.data)
	if n <= 0 {
		r.data, r.short = nil, true
		return 0
	}
	r.data = r.data[n:]
	return v
}
