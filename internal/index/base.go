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

// baseChunk is how much of a base is put together before it is written: it is summed
// and copied while the processor still has it, and nobody needs room for all of it.
const baseChunk = 256 << 10

// baseWriter writes a base piece by piece.
type baseWriter struct {
	w    io.Writer
	buf  []byte
	sum  uint32
	size int64
}

func newBaseID() uint64 { return rand.Uint64() | 1 } // 0 means that there is none

// writeBase writes a base that holds one record, whose blocks get into the order of
// their paths: the scan comes along in about that.
func writeBase(w io.Writer, id uint64, rec *record) (size int64, err error) {
	slices.SortFunc(rec.dirs, func(a, b *Dir) int { return strings.Compare(a.Path, b.Path) })
	b := baseWriter{w: w, buf: append(make([]byte, 0, baseChunk+baseChunk/8), baseMagic...)}
	b.buf = rec.appendHead(binary.LittleEndian.AppendUint64(b.buf, id))
	for _, d := range rec.dirs {
		b.buf = d.append(b.buf)
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

// all is a record of all that the index holds.
func (x *Index) all() record {
	dirs := slices.AppendSeq(make([]*Dir, 0, len(x.Dirs)), maps.Values(x.Dirs))
	return record{aux: x.Aux, packs: x.Packs, summary: x.summary, dirs: dirs}
}

// rewrite puts a base with all that the index holds in the place of base and delta.
func (x *Index) rewrite(f File) error {
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
	os.Remove(f.Delta) // where it stays it is no more than wasted space: it names another base
	return nil
}
