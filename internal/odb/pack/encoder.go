package pack

import (
	"bufio"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Encoder writes a pack to a stream, an object at a time. It makes no deltas. Memory does
// not grow with the contents.
type Encoder struct {
	out  *bufio.Writer // to the stream and the checksum
	w    io.Writer
	sum  hash.Hash
	left int // objects that were announced and not written yet
}

// NewEncoder begins a pack of a known number of objects.
func NewEncoder(w io.Writer, objects int) (*Encoder, error) {
	if objects < 0 || int64(objects) > math.MaxUint32 {
		return nil, fmt.Errorf("pack of %d objects", objects)
	}
	e := &Encoder{w: w, sum: sha1.New(), left: objects}
	e.out = bufio.NewWriterSize(io.MultiWriter(w, e.sum), sampleSize)
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(objects))
	_, err := e.out.Write(head)
	return e, err
}

func (e *Encoder) begin() error {
	if e.left == 0 {
		return errors.New("more objects than the pack was announced to have")
	}
	e.left--
	return nil
}

// Add writes an object.
func (e *Encoder) Add(k object.Kind, content []byte) error {
	if err := e.begin(); err != nil {
		return err
	}
	d := NewDeflater()
	defer d.Release()
	entry, err := d.Entry(k, content)
	if err != nil {
		return err
	}
	_, err = e.out.Write(entry)
	return err
}

// AddBlob writes a blob that is not held in memory.
func (e *Encoder) AddBlob(id object.ID, r io.Reader, size int64) error {
	if err := e.begin(); err != nil {
		return err
	}
	got, _, err := WriteBlob(e.out, r, size)
	if err == nil && got != id {
		err = Corrupt("object %s has the contents of %s", id, got)
	}
	return err
}

// Close ends the pack with its checksum. It does not close the stream.
func (e *Encoder) Close() error {
	if e.left > 0 {
		return fmt.Errorf("pack lacks %d of its objects", e.left)
	}
	if err := e.out.Flush(); err != nil {
		return err
	}
	_, err := e.w.Write(e.sum.Sum(nil))
	return err
}
