package envelope

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// PieceSize is the size in bytes of the blobs of a part, except the last. Hosts refuse large blobs, some from
// 50 MiB on, and a writer and a reader hold one piece in memory.
const PieceSize = 16 << 20

// maxPieces bounds the blobs of one part, whose names have six digits.
const maxPieces = 1_000_000

// pieceEntry is the size in bytes of the entry of a blob in the tree of a part.
const pieceEntry = int64(len("100644 000000\x00") + len(object.ID{}))

// Adder takes objects, such as a batch of a store.
type Adder interface {
	Add(kind object.Kind, content []byte) (object.ID, error)
}

// Writer seals a stream into pieces.
type Writer struct {
	out  io.WriteCloser // plain bytes
	into *pieces
}

// NewWriter begins a part for recipients.
func NewWriter(to Adder, by settings.Sealer, recipients []string) (*Writer, error) {
	into := &pieces{to: to, sum: sha256.New()}
	out, err := by.Seal(into, recipients)
	if err != nil {
		return nil, err
	}
	return &Writer{out, into}, nil
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) { return w.out.Write(p) }

// Close ends the stream, and returns the part and its tree.
func (w *Writer) Close() (p Part, tree object.ID, err error) {
	if err := w.out.Close(); err != nil {
		return p, tree, err
	}
	return w.into.end()
}

// pieces cuts a sealed stream.
type pieces struct {
	to      Adder
	buf     []byte
	entries []object.Entry
	sum     hash.Hash
	size    int64
}

// Write implements io.Writer.
func (c *pieces) Write(p []byte) (n int, err error) {
	n = len(p)
	c.sum.Write(p)
	c.size += int64(n)
	for len(p) > 0 {
		room := min(PieceSize-len(c.buf), len(p))
		c.buf, p = append(c.buf, p[:room]...), p[room:]
		if len(c.buf) == PieceSize {
			if err := c.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (c *pieces) flush() error {
	if len(c.entries) == maxPieces {
		return errors.New("seal: too much for one part")
	}
	id, err := c.to.Add(object.Blob, c.buf)
	c.entries = append(c.entries, object.Entry{Name: fmt.Sprintf("%06d", len(c.entries)), Mode: object.Regular, ID: id})
	c.buf = c.buf[:0]
	return err
}

func (c *pieces) end() (p Part, tree object.ID, err error) {
	if len(c.buf) > 0 {
		err = c.flush()
	}
	if err == nil {
		tree, err = c.to.Add(object.Tree, object.AppendTree(nil, c.entries))
	}
	return Part{Sum: hex.EncodeToString(c.sum.Sum(nil)), Size: c.size}, tree, err
}

// Objects are those of a remote that have come, and have not been checked.
type Objects interface {
	Read(id object.ID) (object.Kind, []byte, error)
	Stat(id object.ID) (kind object.Kind, size int64, err error)
}

// NewReader opens a part. A reader that reaches its end without an error has read the part that the
// note names. A part that was cut off, altered or exchanged ends with settings.ErrDamaged.
func NewReader(from Objects, by settings.Sealer, tree object.ID, p Part, identities []byte) (io.Reader, error) {
	entries, err := readPieces(from, tree)
	if err != nil {
		return nil, fmt.Errorf("%w: part %s: %w", settings.ErrDamaged, p.Name(), err)
	}
	return by.Open(&joined{from: from, part: p, entries: entries, sum: sha256.New()}, identities)
}

func readPieces(from Objects, tree object.ID) ([]object.Entry, error) {
	kind, size, err := from.Stat(tree)
	if err != nil {
		return nil, err
	}
	if kind != object.Tree || size > maxPieces*pieceEntry {
		return nil, fmt.Errorf("its ref is a %s of %d bytes", kind, size)
	}
	_, data, err := from.Read(tree)
	if err != nil {
		return nil, err
	}
	return object.ParseTree(data)
}

// joined reads pieces one after the other.
type joined struct {
	from    Objects
	part    Part
	entries []object.Entry
	buf     []byte
	sum     hash.Hash
	size    int64
}

// Read implements io.Reader. At the end the sum must be that of the note.
func (j *joined) Read(p []byte) (int, error) {
	for len(j.buf) == 0 {
		if len(j.entries) == 0 {
			return 0, j.whole()
		}
		if err := j.next(); err != nil {
			return 0, fmt.Errorf("part %s: %w", j.part.Name(), err)
		}
	}
	n := copy(p, j.buf)
	j.buf = j.buf[n:]
	return n, nil
}

func (j *joined) next() error {
	e := j.entries[0]
	j.entries = j.entries[1:]
	kind, size, err := j.from.Stat(e.ID)
	if err == nil && (kind != object.Blob || size == 0 || size > PieceSize || size > j.part.Size-j.size) {
		err = fmt.Errorf("its piece %.20q is a %s of %d bytes", e.Name, kind, size)
	}
	if err != nil {
		return err
	}
	_, data, err := j.from.Read(e.ID)
	j.sum.Write(data)
	j.size += int64(len(data))
	j.buf = data
	return err
}

func (j *joined) whole() error {
	if j.size != j.part.Size || hex.EncodeToString(j.sum.Sum(nil)) != j.part.Sum {
		return fmt.Errorf("part %s is not the one that the note names", j.part.Name())
	}
	return io.EOF
}
