package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// File names the files of an index. Shared is the base of another one that the first base may be written
// beside, see Share; there may be none.
type File struct{ Base, Delta, Shared string }

const (
	baseMagic  = "CAIRNIX3"
	deltaMagic = "CAIRNID3"
	headerLen  = 16 // magic, id of the base
	frameLen   = 8  // before a record of the delta: its length and checksum

	// The delta is folded into the base when it exceeds a quarter of the base and this size.
	// Appending 256 KiB costs less than rewriting a small base.
	minFold = 256 << 10

	// patience is the factor by which Append lets the delta exceed that size.
	patience = 4
)

// crcTable uses the IEEE polynomial, whose table costs nothing to set up. The tables of
// Castagnoli's take longer than many a process lives, and are not faster.
var crcTable = crc32.IEEETable

// Load reads an index. Without a base it is empty. A damaged base is an error that wraps
// ErrMalformed. With every error comes an empty index that the caller can use.
func Load(f File) (*Index, error) {
	base, err := readFile(f.Base)
	if errors.Is(err, fs.ErrNotExist) {
		return New(), nil
	}
	if err != nil {
		return New(), err
	}
	delta, err := readFile(f.Delta)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return New(), err
	}
	x := New()
	if err := x.decode(base, f); err != nil {
		return New(), fmt.Errorf("%s: %w", f.Base, err)
	}
	x.replay(delta)
	return x, nil
}

// maxFile is more than the size of 25 million names. A larger file is no index, and may exceed the
// memory.
const maxFile = 1<<31 - 1

// readFile is os.ReadFile into memory from newBuffer.
func readFile(path string) ([]byte, error) {
	file, err := atomicfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: %w: %d bytes", path, ErrMalformed, info.Size())
	}
	data := newBuffer(int(info.Size()))
	n, err := io.ReadFull(file, data)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil // the file was cut off just now; the checksums show it
	}
	return data[:n], err
}

// decode reads a base of either kind.
func (x *Index) decode(data []byte, f File) error {
	if len(data) >= len(onMagic) && string(data[:len(onMagic)]) == onMagic {
		return x.decodeOn(data, f)
	}
	return x.decodeBase(data)
}

func (x *Index) decodeBase(data []byte) error {
	rec, id, err := readBase(data)
	if err != nil {
		return err
	}
	x.Dirs = make(map[string]*Dir, len(rec.dirs))
	x.apply(&rec)
	x.setBase(id, int64(len(data)))
	return nil
}

// readBase checks and decodes a base that stands alone.
func readBase(data []byte) (rec record, id uint64, err error) {
	if len(data) < headerLen+4 || string(data[:len(baseMagic)]) != baseMagic {
		return rec, 0, fmt.Errorf("%w: no header", ErrMalformed)
	}
	body, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if crc32.Checksum(body, crcTable) != sum {
		return rec, 0, fmt.Errorf("%w: checksum", ErrMalformed)
	}
	if rec, err = decodeRecord(body[headerLen:]); err != nil {
		return rec, 0, err
	}
	if len(rec.patches) > 0 {
		return rec, 0, fmt.Errorf("%w: base with patches", ErrMalformed)
	}
	return rec, binary.LittleEndian.Uint64(body[len(baseMagic):]), nil
}

// setBase makes this state that of a base without a delta.
func (x *Index) setBase(id uint64, size int64) {
	x.base, x.baseLen = id, size
	x.tailLen, x.tailSum = 0, uint32(id)
}

// replay applies the intact records of a delta. It sets tailLen to the start of the first torn record:
// the next append overwrites the record.
func (x *Index) replay(delta []byte) {
	if len(delta) < headerLen || string(delta[:len(deltaMagic)]) != deltaMagic ||
		binary.LittleEndian.Uint64(delta[len(deltaMagic):]) != x.base {
		return
	}
	x.tailLen = headerLen
	state := replayed{x, make(map[string]*patched)}
	defer state.finish()
	for rest := delta[headerLen:]; ; {
		data, sum, ok := nextRecord(rest, x.tailSum)
		if !ok {
			return
		}
		rec, err := decodeRecord(data)
		if err == nil {
			err = state.apply(&rec)
		}
		if err != nil {
			return
		}
		size := frameLen + len(data)
		x.tailLen, x.tailSum = x.tailLen+int64(size), sum
		rest = rest[size:]
	}
}

// nextRecord returns the first record in the rest of a delta, and its checksum. ok is false if no
// record continues the one before.
func nextRecord(rest []byte, before uint32) (data []byte, sum uint32, ok bool) {
	if len(rest) < frameLen {
		return nil, 0, false
	}
	size, sum := binary.LittleEndian.Uint32(rest), binary.LittleEndian.Uint32(rest[4:])
	rest = rest[frameLen:]
	if uint64(size) > uint64(len(rest)) || crc32.Update(before, crcTable, rest[:size]) != sum {
		return nil, 0, false
	}
	return rest[:size], sum, true
}

// apply cannot fail half-way, because the record was decoded as a whole before.
func (x *Index) apply(rec *record) {
	x.Aux, x.Packs, x.summary = rec.aux, rec.packs, rec.summary
	for _, path := range rec.removed {
		delete(x.Dirs, path)
	}
	for _, d := range rec.dirs {
		x.Dirs[d.Path] = d
	}
}

// Save writes the changes since Load: as an appended record, or as a new base if the delta is large
// or there is no base. Nothing is flushed to disk: after a power failure the checksums show the
// damage, and the next scan starts without a cache.
func (x *Index) Save(f File) error { return x.save(f, x.foldAt()) }

// Append is Save for a caller that calls Fold at a better time, when Long reports true. It writes a
// new base only if the delta would exceed the base.
func (x *Index) Append(f File) error { return x.save(f, max(patience*minFold, x.baseLen)) }

// Fold writes the whole index as a new base.
func (x *Index) Fold(f File) error { return x.rewrite(f) }

// Long reports whether the delta is so large that Save would write a new base.
func (x *Index) Long() bool { return x.base != 0 && x.tailLen > x.foldAt() }

func (x *Index) foldAt() int64 { return max(minFold, x.baseLen/4) }

// save appends if the delta is no larger than limit afterwards.
func (x *Index) save(f File, limit int64) error {
	if !x.Dirty() {
		return nil
	}
	if x.base != 0 {
		rec := x.news()
		if x.tailLen+int64(rec.size()) <= limit {
			return x.append(f, &rec)
		}
	}
	return x.rewrite(f)
}

// news returns a record of the changes since Load or the last save.
func (x *Index) news() record {
	rec := record{aux: x.Aux, packs: x.Packs, summary: x.summary, removed: x.removed}
	gone := make(map[string]bool, len(x.removed))
	for _, path := range x.removed {
		gone[path] = true
	}
	for _, d := range x.changed {
		if x.Dirs[d.Path] != d {
			continue // replaced or removed again
		}
		if old := x.saved[d.Path]; old != nil && !gone[d.Path] {
			if p, ok := newPatch(old, d); ok {
				rec.patches = append(rec.patches, p)
				continue
			}
		}
		rec.dirs = append(rec.dirs, d)
	}
	return rec
}

func (x *Index) append(f File, rec *record) error {
	size := rec.size()
	out := make([]byte, 0, headerLen+frameLen+size)
	at := x.tailLen
	if at == 0 {
		out = appendDeltaHeader(out, x.base)
	}
	out = binary.LittleEndian.AppendUint32(out, uint32(size))
	frame := len(out)
	out = rec.append(append(out, 0, 0, 0, 0))
	sum := crc32.Update(x.tailSum, crcTable, out[frame+4:])
	binary.LittleEndian.PutUint32(out[frame:], sum)
	if err := writeTail(f.Delta, at, out); err != nil {
		return err
	}
	x.tailLen, x.tailSum = at+int64(len(out)), sum
	x.clean()
	return nil
}

func appendDeltaHeader(out []byte, base uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(out, deltaMagic...), base)
}

// writeTail replaces the bytes of a file from an offset on. It truncates first, so that no crash
// leaves new bytes before old ones.
func writeTail(path string, at int64, tail []byte) error {
	file, err := atomicfile.OpenOrCreate(path)
	if err != nil {
		return err
	}
	err = file.Truncate(at)
	if err == nil {
		_, err = file.WriteAt(tail, at)
	}
	return errors.Join(err, file.Close())
}

func (x *Index) clean() {
	x.changed, x.removed, x.saved, x.private = nil, nil, nil, false
}
