package index

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// baseChunk is the number of bytes of a base that are encoded before a write: the chunk is summed
// and copied while it is in the processor's cache, and the whole base is never in memory.
const baseChunk = 256 << 10

// baseWriter writes a base piece by piece.
type baseWriter struct {
	w    io.Writer
	buf  []byte
	sum  uint32
	size int64
}

func newBaseID() uint64 { return rand.Uint64() | 1 } // 0 means that there is none

// writeBase writes a base with one record. It sorts the blocks by path, about the order in which a
// scan needs them.
func writeBase(w io.Writer, id uint64, rec *record) (size int64, err error) {
	slices.SortFunc(rec.dirs, func(a, b *Dir) int { return strings.Compare(a.Path, b.Path) })
	b := baseWriter{w: w, buf: append(make([]byte, 0, baseChunk+baseChunk/8), baseMagic...)}
	b.buf = rec.appendHead(binary.LittleEndian.AppendUint64(b.buf, id))
	before := ""
	for _, d := range rec.dirs {
		b.buf = d.appendBlock(appendPath(b.buf, d.Path, before))
		before = d.Path
		if len(b.buf) < baseChunk {
			continue
		}
		if err := b.flush(); err != nil {
			return 0, err
		}
	}
	if err := b.flush(); err != nil {
		return 0, err
	}
	b.buf = binary.LittleEndian.AppendUint32(b.buf, b.sum)
	err = b.flush()
	return b.size, err
}

func (b *baseWriter) flush() error {
	b.sum = crc32.Update(b.sum, crcTable, b.buf)
	n, err := b.w.Write(b.buf)
	b.size += int64(n)
	b.buf = b.buf[:0]
	return err
}

// all returns a record of the whole index.
func (x *Index) all() record {
	dirs := slices.AppendSeq(make([]*Dir, 0, len(x.Dirs)), maps.Values(x.Dirs))
	return record{aux: x.Aux, packs: x.Packs, summary: x.summary, dirs: dirs}
}

// rewrite replaces base and delta by a new base with the whole index. Only the first base is written beside
// a shared one: a later one would differ from it more and more.
func (x *Index) rewrite(f File) error {
	if x.base == 0 && f.Shared != "" {
		if ok, err := x.writeOn(f); ok || err != nil {
			x.clean()
			os.Remove(f.Delta)
			return err
		}
	}
	id, rec := newBaseID(), x.all()
	var size int64
	err := atomicfile.Write(f.Base, 0o600, false, func(w io.Writer) (err error) {
		size, err = writeBase(w, id, &rec)
		return err
	})
	if err != nil {
		return err
	}
	x.setBase(id, size)
	x.clean()
	os.Remove(f.Delta) // a delta that stays only wastes space: it names another base
	if f.Shared != "" {
		os.Remove(f.Shared)
	}
	return nil
}
