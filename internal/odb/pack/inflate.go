package pack

import (
	"bufio"
	"errors"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// cursor reads a range of a file and keeps the error, to tell an unreadable disk from
// damaged compressed data.
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

// Inflater decompresses entries of packs and loose objects.
type Inflater struct {
	cur cursor
	max int64 // compressed bytes there are at most
	br  *bufio.Reader
	zr  io.ReadCloser
}

var inflaters = sync.Pool{New: func() any { return &Inflater{br: bufio.NewReaderSize(nil, 8192)} }}

// NewInflater returns an inflater at off; end it with Release.
func NewInflater(src io.ReaderAt, off, end int64) *Inflater {
	z := inflaters.Get().(*Inflater)
	z.cur, z.max = cursor{src: src, off: off, end: end}, end-off
	z.br.Reset(&z.cur)
	return z
}

// Release puts the inflater back into the pool.
func (z *Inflater) Release() {
	z.cur = cursor{}
	z.br.Reset(nil)
	inflaters.Put(z)
}

// Entry reads the header of a pack entry, which begins at off.
func (z *Inflater) Entry(off int64) (Entry, error) {
	head, err := z.br.Peek(MaxEntryHead)
	if err != nil && err != io.EOF {
		return Entry{}, err
	}
	e, n, err := ParseEntry(head, off)
	if err != nil {
		return Entry{}, err
	}
	z.br.Discard(n)
	return e, z.Start()
}

// Start begins the decompression at the present position.
func (z *Inflater) Start() (err error) {
	if z.zr == nil {
		z.zr, err = zlib.NewReader(z.br)
	} else {
		err = z.zr.(zlib.Resetter).Reset(z.br, nil)
	}
	return z.explain(err)
}

// explain turns an error of the decompressor into ErrCorrupt, unless the file could
// not be read.
func (z *Inflater) explain(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case z.cur.err != nil:
		return z.cur.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Corrupt("compressed data ends early")
	}
	return Corrupt("compressed data: %v", err)
}

func (z *Inflater) Read(p []byte) (int, error) {
	n, err := z.zr.Read(p)
	return n, z.explain(err)
}

// Plausible refuses sizes that the compressed bytes cannot hold: deflate makes at most 1032
// bytes out of one.
func (z *Inflater) Plausible(size int64) error {
	if size/1032 > z.max {
		return Corrupt("%d bytes said to be in %d compressed ones", size, z.max)
	}
	return nil
}

// readFirst is the memory set aside for contents before any of it has been seen.
const readFirst = 16 << 20

// Contents reads exactly size bytes and the end of the stream.
func (z *Inflater) Contents(size int64) ([]byte, error) {
	if err := z.Plausible(size); err != nil {
		return nil, err
	}
	if size > math.MaxInt-1 {
		return nil, Corrupt("object of %d bytes", size)
	}
	data := make([]byte, 0, min(size, readFirst))
	for int64(len(data)) < size {
		if len(data) == cap(data) {
			data = slices.Grow(data, int(min(int64(len(data)), size-int64(len(data)))))
		}
		n, err := z.Read(data[len(data):min(int64(cap(data)), size)])
		data = data[:len(data)+n]
		if err == io.EOF && int64(len(data)) < size {
			err = Corrupt("%d bytes instead of %d", len(data), size)
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
	}
	return data, z.finish()
}

// finish checks that the compressed data end here, which also compares their checksum.
func (z *Inflater) finish() error {
	var one [1]byte
	for {
		n, err := z.Read(one[:])
		switch {
		case n > 0:
			return Corrupt("more bytes than the header says")
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}
