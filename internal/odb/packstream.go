package odb

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

// PackEncoder writes a pack to a stream, an object at a time. Every entry stands
// for itself: there are no deltas. Memory does not grow with the contents.
type PackEncoder struct {
	db   *DB
	out  *bufio.Writer // to the stream and the checksum
	w    io.Writer
	sum  hash.Hash
	left int // objects that were announced and not written yet
}

// EncodePack begins a pack of as many objects as said.
func (db *DB) EncodePack(w io.Writer, objects int) (*PackEncoder, error) {
	if objects < 0 || int64(objects) > math.MaxUint32 {
		return nil, fmt.Errorf("pack of %d objects", objects)
	}
	e := &PackEncoder{db: db, w: w, sum: sha1.New(), left: objects}
	e.out = bufio.NewWriterSize(io.MultiWriter(w, e.sum), sampleSize)
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(objects))
	_, err := e.out.Write(head)
	return e, err
}

func (e *PackEncoder) begin() error {
	if e.left == 0 {
		return errors.New("more objects than the pack was announced to have")
	}
	e.left--
	return nil
}

// Add writes an object.
func (e *PackEncoder) Add(k object.Kind, content []byte) error {
	if err := e.begin(); err != nil {
		return err
	}
	d := newDeflater()
	defer d.release()
	entry, err := d.entry(k, content)
	if err != nil {
		return err
	}
	_, err = e.out.Write(entry)
	return err
}

// Copy writes an object of the store, which must be of kind k. Large blobs are
// streamed.
func (e *PackEncoder) Copy(k object.Kind, id object.ID) error {
	kind, size, r, err := e.db.Open(id)
	if err != nil {
		return err
	}
	defer r.Close()
	if kind != k {
		return corrupt("object %s is a %s, not a %s", id, kind, k)
	}
	if k == object.Blob && size > streamAbove {
		return e.copyLarge(id, r, size)
	}
	buf := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buf)
	if int64(cap(*buf)) < size {
		*buf = make([]byte, size)
	}
	content := (*buf)[:size]
	if _, err := io.ReadFull(r, content); err != nil {
		return short(err)
	}
	if err := atEnd(r); err != nil { // where a stream says that it was damaged
		return err
	}
	return e.Add(k, content)
}

func (e *PackEncoder) copyLarge(id object.ID, r io.Reader, size int64) error {
	if err := e.begin(); err != nil {
		return err
	}
	got, _, err := writeLarge(e.out, r, size)
	if err == nil && got != id {
		err = corrupt("object %s has the contents of %s", id, got)
	}
	return err
}

// Close ends the pack with its checksum. It does not close the stream.
func (e *PackEncoder) Close() error {
	if e.left > 0 {
		return fmt.Errorf("pack lacks %d of its objects", e.left)
	}
	if err := e.out.Flush(); err != nil {
		return err
	}
	_, err := e.w.Write(e.sum.Sum(nil))
	return err
}
