package odb

import (
	"context"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Incoming is a pack from elsewhere in a temporary file. Nothing of it is in the store.
type Incoming = pack.Incoming

// ReceivePack reads a pack up to its end, which must be the end of r, and checks it meanwhile:
// the first fault ends the reading. A delta is accepted if its base is in the pack. It needs no
// lock. Close of the result removes the temporary file.
func (db *DB) ReceivePack(ctx context.Context, r io.Reader) (*Incoming, error) {
	return pack.Receive(ctx, db.path(packDir), r)
}

// PackEncoder writes objects, of this store or others, to a stream as one pack.
type PackEncoder struct {
	*pack.Encoder
	db *DB
}

// EncodePack begins a pack of a known number of objects.
func (db *DB) EncodePack(w io.Writer, objects int) (*PackEncoder, error) {
	e, err := pack.NewEncoder(w, objects)
	return &PackEncoder{e, db}, err
}

// Copy writes an object of the store, which must be of kind k. It streams a large blob.
func (e *PackEncoder) Copy(k object.Kind, id object.ID) error {
	kind, size, r, err := e.db.Open(id)
	if err != nil {
		return err
	}
	defer r.Close()
	if kind != k {
		return pack.Corrupt("object %s is a %s, not a %s", id, kind, k)
	}
	if k == object.Blob && size > pack.StreamAbove {
		return e.AddBlob(id, r, size)
	}
	buf := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buf)
	if int64(cap(*buf)) < size {
		*buf = make([]byte, size)
	}
	content := (*buf)[:size]
	if err := pack.ReadExactly(r, content); err != nil {
		return err
	}
	return e.Add(k, content)
}
