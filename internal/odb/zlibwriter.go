package odb

import (
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/flate"
)

// zlibHead begins a zlib stream of the usual window and a fast level.
var zlibHead = []byte{0x78, 0x01}

// zlibWriter compresses into the zlib format. It is klauspost's, but for the checksum.
type zlibWriter struct {
	out   io.Writer
	flate *flate.Writer
	sum   uint32
	err   error
}

// reset begins a stream. level does not change between uses of a writer.
func (z *zlibWriter) reset(out io.Writer, level int) {
	z.blocks(out, level)
	z.out, z.sum = out, 1
	_, z.err = out.Write(zlibHead)
}

// blocks begins a part of a stream that refers to nothing before.
func (z *zlibWriter) blocks(out io.Writer, level int) *flate.Writer {
	if z.flate == nil {
		z.flate, _ = flate.NewWriter(out, level) // fails for unknown levels only
	} else {
		z.flate.Reset(out)
	}
	return z.flate
}

// Write implements io.Writer.
func (z *zlibWriter) Write(p []byte) (n int, err error) {
	if z.err == nil {
		n, z.err = z.flate.Write(p)
		z.sum = adlerOver(z.sum, p)
	}
	return n, z.err
}

// Close ends the stream, not what it is written to.
func (z *zlibWriter) Close() error {
	if z.err == nil {
		z.err = z.flate.Close()
	}
	if z.err == nil {
		_, z.err = z.out.Write(binary.BigEndian.AppendUint32(nil, z.sum))
	}
	return z.err
}
