package odb

import (
	"bufio"
	"io"
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// streamAbove is the size up to which a blob is read into memory.
const streamAbove = 8 << 20

// addLarge adds a blob through a temporary file of its own, so that other
// goroutines can go on adding meanwhile.
func (b *Batch) addLarge(r io.Reader, size int64) (object.ID, error) {
	if err := b.failed(); err != nil {
		return object.ID{}, err
	}
	if start, ok := position(r); ok {
		id, err := hashBlob(r, size)
		if err != nil || b.Has(id) {
			return id, err
		}
		if _, err := r.(io.Seeker).Seek(start, io.SeekStart); err != nil {
			return id, err
		}
	}
	f, err := atomicfile.Create(b.w.dir, tempPrefix)
	if err != nil {
		return object.ID{}, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	// The id is that of this reading, should the contents have changed since.
	id, crc, err := writeLarge(f, r, size)
	if err != nil || b.Has(id) {
		return id, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return id, err
	}
	return id, b.put(id, func() error { return b.w.addFrom(id, crc, f) })
}

// position tells where r stands, if it can be brought back there.
func position(r io.Reader) (off int64, ok bool) {
	s, ok := r.(io.Seeker)
	if !ok {
		return 0, false
	}
	off, err := s.Seek(0, io.SeekCurrent)
	return off, err == nil
}

func hashBlob(r io.Reader, size int64) (object.ID, error) {
	h := object.NewHash(object.Blob, size)
	if _, err := io.CopyN(h, r, size); err != nil {
		return object.ID{}, short(err)
	}
	return object.HashID(h), atEnd(r)
}

// writeLarge writes the pack entry of a blob to w.
func writeLarge(w io.Writer, r io.Reader, size int64) (id object.ID, crc uint32, err error) {
	d := newDeflater()
	defer d.release()
	in := bufio.NewReaderSize(r, sampleSize)
	sample, err := in.Peek(sampleSize)
	if err != nil {
		return id, 0, short(err)
	}
	out := &crcWriter{w: bufio.NewWriterSize(w, sampleSize)}
	out.Write(appendEntryHead(nil, object.Blob, size))
	h := object.NewHash(object.Blob, size)
	zw := d.writer(out, d.shrinks(sample))
	if _, err := io.CopyN(io.MultiWriter(h, zw), in, size); err != nil {
		return id, 0, short(err)
	}
	if err := atEnd(in); err != nil {
		return id, 0, err
	}
	if err := zw.Close(); err != nil {
		return id, 0, err
	}
	return object.HashID(h), out.crc, out.w.Flush()
}
