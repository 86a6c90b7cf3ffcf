package odb

import (
	"bufio"
	"errors"
	"hash/crc32"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// streamAbove is the size up to which a blob is read into memory.
const streamAbove = 8 << 20

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

// ErrSize says that a reader did not yield the bytes that were announced.
var ErrSize = errors.New("contents changed size while they were read")

// readExactly fills buf with all that r has. That r ends there is checked, too: it is
// where a stream reports damage.
func readExactly(r io.Reader, buf []byte) error {
	if _, err := io.ReadFull(r, buf); err != nil {
		return short(err)
	}
	return atEnd(r)
}

// short is ErrSize for a reader that ended early.
func short(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return ErrSize
	}
	return err
}

// atEnd checks that r has nothing more to give.
func atEnd(r io.Reader) error {
	var one [1]byte
	n, err := io.ReadFull(r, one[:])
	switch {
	case n > 0:
		return ErrSize
	case err == io.EOF:
		return nil
	}
	return err
}

// crcWriter counts and sums what passes through it.
type crcWriter struct {
	w   *bufio.Writer
	crc uint32
}

func (c *crcWriter) Write(p []byte) (int, error) {
	c.crc = crc32.Update(c.crc, crc32.IEEETable, p)
	return c.w.Write(p)
}
