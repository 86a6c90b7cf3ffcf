package odb

import (
	"bufio"
	"errors"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// cursor reads a range of a file and remembers why it failed, so that a disk that
// cannot be read is told from a stream that makes no sense.
type cursor struct {
	src      io.ReaderAt
	off, end int64
	err      error
}

func (c *cursor) Read(p []byte) (int, error) {
	if c.off >= c.end {
		return 0, io.EOF
	}
	n, err := c.src.ReadAt(p[:min(int64(len(p)), c.end-c.off)], c.off)
	c.off += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// inflater decompresses entries of packs and loose objects.
type inflater struct {
	cur cursor
	max int64 // compressed bytes there are at most
	br  *bufio.Reader
	zr  io.ReadCloser
}

var inflaters = sync.Pool{New: func() any { return &inflater{br: bufio.NewReaderSize(nil, 8192)} }}

// newInflater returns an inflater at off; give it back with release.
func newInflater(src io.ReaderAt, off, end int64) *inflater {
	z := inflaters.Get().(*inflater)
	z.cur, z.max = cursor{src: src, off: off, end: end}, end-off
	z.br.Reset(&z.cur)
	return z
}

func (z *inflater) release() {
	z.cur = cursor{}
	z.br.Reset(nil)
	inflaters.Put(z)
}

// entry reads the header of a pack entry, which begins at off.
func (z *inflater) entry(off int64) (entry, error) {
	head, err := z.br.Peek(maxEntryHead)
	if err != nil && err != io.EOF {
		return entry{}, err
	}
	e, n, err := parseEntry(head, off)
	if err != nil {
		return entry{}, err
	}
	z.br.Discard(n)
	return e, z.start()
}

// start begins the decompression at the present position.
func (z *inflater) start() (err error) {
	if z.zr == nil {
		z.zr, err = zlib.NewReader(z.br)
	} else {
		err = z.zr.(zlib.Resetter).Reset(z.br, nil)
	}
	return z.explain(err)
}

// explain turns an error of the decompressor into ErrCorrupt, unless the file could
// not be read.
func (z *inflater) explain(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case z.cur.err != nil:
		return z.cur.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return corrupt("compressed data ends early")
	}
	return corrupt("compressed data: %v", err)
}

func (z *inflater) Read(p []byte) (int, error) {
	n, err := z.zr.Read(p)
	return n, z.explain(err)
}

// plausible refuses sizes that the compressed bytes at hand cannot hold: deflate
// makes at most 1032 bytes out of one.
func (z *inflater) plausible(size int64) error {
	if size/1032 > z.max {
		return corrupt("%d bytes said to be in %d compressed ones", size, z.max)
	}
	return nil
}

// readFirst is the memory set aside for contents before any of it has been seen.
const readFirst = 16 << 20

// contents reads exactly size bytes and the end of the stream.
func (z *inflater) contents(size int64) ([]byte, error) {
	if err := z.plausible(size); err != nil {
		return nil, err
	}
	if size > math.MaxInt-1 {
		return nil, corrupt("object of %d bytes", size)
	}
	data := make([]byte, 0, min(size, readFirst))
	for int64(len(data)) < size {
		if len(data) == cap(data) {
			data = slices.Grow(data, int(min(int64(len(data)), size-int64(len(data)))))
		}
		n, err := z.Read(data[len(data):min(int64(cap(data)), size)])
		data = data[:len(data)+n]
		if err == io.EOF && int64(len(data)) < size {
			err = corrupt("%d bytes instead of %d", len(data), size)
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
	}
	return data, z.finish()
}

// finish checks that the stream ends here; that is also when its checksum is
// compared.
func (z *inflater) finish() error {
	var one [1]byte
	for {
		n, err := z.Read(one[:])
		switch {
		case n > 0:
			return corrupt("more bytes than the header says")
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}
