package pack

import (
	"bufio"
	"errors"
	"hash/crc32"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// StreamAbove is the size of the largest blob that is read into memory.
const StreamAbove = 8 << 20

// HashBlob returns the id of a blob of exactly size bytes.
func HashBlob(r io.Reader, size int64) (object.ID, error) {
	h := object.NewHash(object.Blob, size)
	if _, err := io.CopyN(h, r, size); err != nil {
		return object.ID{}, short(err)
	}
	return object.HashID(h), atEnd(r)
}

// WriteBlob writes the pack entry of a blob to w. It returns the id of the blob and the
// CRC-32 of the entry.
func WriteBlob(w io.Writer, r io.Reader, size int64) (id object.ID, crc uint32, err error) {
	d := NewDeflater()
	defer d.Release()
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

// ErrSize says that a reader did not yield the announced number of bytes.
var ErrSize = errors.New("contents changed size while they were read")

// ReadExactly fills buf with all that r has. That r ends there is checked, too: it is
// where a stream reports damage.
func ReadExactly(r io.Reader, buf []byte) error {
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
