package pack

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// TempPrefix begins the names of the temporary files among the packs. Git removes tmp_*
// there when it is weeks old, which is right for temporary files of cairn, too.
const TempPrefix = "tmp_cairn_"

// SpillAt is how much of a pack is held in memory. A smaller pack is written at once when
// it is complete. A larger one is written in pieces of this size: one is written while the
// next one fills.
const SpillAt = 4 << 20

// Writer collects the entries of a new pack. It is not safe for concurrent use.
type Writer struct {
	dir  string
	buf  []byte   // not written yet
	file *os.File // nil as long as all of it is in buf
	done int64    // bytes that are in file, or on their way
	rows []Row
	lookup

	spilling chan spilled // a piece is being written; nil = none

	behind *writeBehind           // nil = nothing waits for the disk
	Allow  func(more int64) error // asked before bytes are written; may be nil
	short  error                  // the last refusal of Allow; after the first one nothing is written
}

func NewWriter(dir string) *Writer { return &Writer{dir: dir} }

// Dir returns the directory of the writer's temporary files.
func (w *Writer) Dir() string { return w.dir }

// Len returns the number of entries.
func (w *Writer) Len() int { return len(w.rows) }

// Expect makes room in the index for n entries.
func (w *Writer) Expect(n int) { w.rows = slices.Grow(w.rows, n) }

// InMemory reports whether no file holds a part of the pack.
func (w *Writer) InMemory() bool { return w.file == nil }

// Read returns an object of a pack that is in memory.
func (w *Writer) Read(id object.ID) (object.Kind, []byte, error) {
	at := w.row(id)
	if at < 0 || !w.InMemory() {
		return 0, nil, fmt.Errorf("object %s: %w", id, ErrNotFound)
	}
	off := w.rows[at].Off
	z := NewInflater(bytes.NewReader(w.buf), off, int64(len(w.buf)))
	defer z.Release()
	e, err := z.Entry(off)
	if err != nil {
		return 0, nil, err
	}
	content, err := z.Contents(e.Size)
	return e.Kind, content, err
}

// Written returns how many bytes of the pack are in its file, or on their way.
func (w *Writer) Written() int64 { return w.done }

// Next returns the offset of the entry that is added next.
func (w *Writer) Next() int64 { return max(HeadSize, w.done+int64(len(w.buf))) }

// WriteBehind has the system write a large pack to the disk while it grows.
func (w *Writer) WriteBehind() { w.behind = new(writeBehind) }

// Add appends an entry, header included.
func (w *Writer) Add(id object.ID, crc uint32, entry []byte) error {
	if len(w.buf) > 0 && len(w.buf)+len(entry) > SpillAt {
		if err := w.spill(); err != nil {
			return err
		}
	}
	if err := w.begin(id, crc); err != nil {
		return err
	}
	w.room(len(entry))
	w.buf = append(w.buf, entry...)
	if len(w.buf) < SpillAt {
		return nil
	}
	return w.spill()
}

// room makes room for n bytes and the checksum that comes last. append would grow a large
// buffer by a quarter each time, which copies a pack five times until it is complete.
func (w *Writer) room(n int) {
	if w.buf == nil {
		w.buf = newBuffer()
	}
	if n += sha1.Size; cap(w.buf)-len(w.buf) < n {
		w.buf = append(make([]byte, 0, max(min(2*cap(w.buf), SpillAt), len(w.buf)+n, firstRoom)), w.buf...)
	}
}

// buffers keeps buffers for the next pack. A process that stays open writes one pack after
// the other, and growing a buffer from cleared memory takes longer than filling it.
var buffers sync.Pool

// maxPooledBuffer is the size of the largest buffer that goes back to the pool.
const maxPooledBuffer = 2 << 20

// newBuffer returns a buffer of the pool, nil if the pool is empty.
func newBuffer() []byte {
	if b, ok := buffers.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return nil
}

// releaseBuffer returns a buffer without another user to the pool.
func releaseBuffer(b []byte) {
	if cap(b) >= firstRoom && cap(b) <= maxPooledBuffer {
		buffers.Put(&b)
	}
}

// firstRoom is the size of the first buffer: the pack of one changed file.
const firstRoom = 4 << 10

// AddFrom appends an entry, header included, that r yields.
func (w *Writer) AddFrom(id object.ID, crc uint32, r io.Reader) error {
	if err := w.begin(id, crc); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	n, err := io.Copy(&allowedWriter{w}, r)
	w.done += n
	return err
}

func (w *Writer) begin(id object.ID, crc uint32) error {
	if len(w.rows) == math.MaxInt32 {
		return errors.New("too many objects for one pack")
	}
	if len(w.rows) == 0 {
		w.room(HeadSize)
		w.buf = append(w.buf, "PACK\x00\x00\x00\x02\x00\x00\x00\x00"...) // the count is set at the end
	}
	w.rows = append(w.rows, Row{id, crc, w.done + int64(len(w.buf))})
	return nil
}

// ask reports whether bytes may be written. After a refusal they are only counted: Allow
// is still called for all bytes, so its last error knows the size of the whole pack.
func (w *Writer) ask(more int) bool {
	if w.Allow != nil && more > 0 {
		if err := w.Allow(int64(more)); err != nil {
			w.short = err
		}
	}
	return w.short == nil
}

// skip drops the buffer after a refusal of Allow.
func (w *Writer) skip() error {
	_, err := w.waitSpilled()
	w.done += int64(len(w.buf))
	w.buf = w.buf[:0]
	return err
}

// allowedWriter writes to the file of the pack unless Allow refuses.
type allowedWriter struct{ w *Writer }

func (a *allowedWriter) Write(p []byte) (int, error) {
	if !a.w.ask(len(p)) {
		return len(p), nil
	}
	return a.w.file.Write(p)
}

// sumBuffer is how much is read back at once for the checksum. It fits into the cache of
// one processor.
const sumBuffer = 256 << 10

// finish sets the number of objects, appends the checksum and writes the rest.
func (w *Writer) finish() (sum [sha1.Size]byte, err error) {
	defer w.behind.end() // the file may get another owner
	if w.file == nil && w.short == nil {
		return w.finishBuffer(), w.flushAll()
	}
	if err := w.flushAll(); err != nil {
		return sum, err
	}
	if _, err := w.file.WriteAt(w.count(), 8); err != nil {
		return sum, err
	}
	w.behind.grown(w.file, w.done, 1) // the disk works while the checksum is computed
	h := sha1.New()
	if n, err := io.CopyBuffer(h, io.NewSectionReader(w.file, 0, w.done), make([]byte, sumBuffer)); err != nil || n != w.done {
		return sum, errors.Join(err, fmt.Errorf("read %d of %d bytes back", n, w.done))
	}
	w.buf = h.Sum(w.buf)
	sum = [sha1.Size]byte(w.buf)
	return sum, w.flushAll()
}

// finishBuffer is finish for a pack that is in memory as a whole.
func (w *Writer) finishBuffer() (sum [sha1.Size]byte) {
	copy(w.buf[8:], w.count())
	sum = sha1.Sum(w.buf)
	w.buf = append(w.buf, sum[:]...)
	return sum
}

// flushAll is flush for the end of a pack. It fails if Allow refused a part of the pack.
func (w *Writer) flushAll() error {
	if err := w.flush(); err != nil {
		return err
	}
	if w.short != nil {
		w.ask(indexSize(len(w.rows))) // for the sum
	}
	return w.short
}

// indexSize is the size of the index of a small pack with n objects.
func indexSize(n int) int { return IndexHeadSize + n*(idSize+8) + 2*sha1.Size }

func (w *Writer) count() []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(len(w.rows)))
}

// Discard removes the temporary file, and takes the buffers back. After Seal it leaves the
// sealed files alone.
func (w *Writer) Discard() {
	_, _ = w.waitSpilled()
	w.behind.end()
	if w.file != nil {
		atomicfile.Discard(w.file)
		w.file = nil
	}
	releaseBuffer(w.buf)
	w.buf, w.rows, w.lookup = nil, nil, lookup{}
}

// Size returns the size of the pack, once it is complete, with its index.
func (w *Writer) Size() int64 {
	return w.done + int64(len(w.buf)) + int64(IndexHeadSize+IndexTailSize+len(w.rows)*(idSize+8))
}

// index returns the index. It sorts the rows, so it drops what is known of their order.
func (w *Writer) index(sum [sha1.Size]byte) ([]byte, error) {
	w.lookup = lookup{}
	return encodeIndex(w.rows, sum, offsetBit)
}

// writeIndex writes the index under a temporary name.
func (w *Writer) writeIndex(sum [sha1.Size]byte) (*os.File, error) {
	data, err := w.index(sum)
	if err != nil {
		return nil, err
	}
	if !w.ask(len(data)) {
		return nil, w.short
	}
	return atomicfile.CreateWith(w.dir, TempPrefix, data)
}
