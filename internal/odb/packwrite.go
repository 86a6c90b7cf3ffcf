package odb

import (
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

// tempPrefix begins the names of the temporary files among the packs. Git takes
// tmp_* there for rubbish that it may remove when it is weeks old, which suits us.
const tempPrefix = "tmp_cairn_"

// spillAt is how much of a pack is held in memory: smaller ones are written at once
// when they are complete, larger ones in pieces of this size, of which one is written
// while the next one fills.
const spillAt = 4 << 20

// packWriter collects the entries of a new pack. It is not safe for concurrent use.
type packWriter struct {
	dir  string
	buf  []byte   // what has not been written yet
	file *os.File // nil as long as all of it is in buf
	done int64    // bytes that are in file, or on their way
	rows []row

	spilling chan spilled // a piece is being written; nil = none

	behind *writeBehind           // nil = nothing waits for the disk
	Allow  func(more int64) error // asked before bytes are written; may be nil
	short  error                  // the last refusal of allow; from the first on nothing is written
}

func newPackWriter(dir string) *packWriter { return &packWriter{dir: dir} }

// Dir returns the directory of the writer's temporary files.
func (w *packWriter) Dir() string { return w.dir }

// Len returns the number of entries.
func (w *packWriter) Len() int { return len(w.rows) }

// Expect makes room in the index for n entries.
func (w *packWriter) Expect(n int) { w.rows = slices.Grow(w.rows, n) }

// InMemory reports whether no file holds a part of the pack.
func (w *packWriter) InMemory() bool { return w.file == nil }

// Written returns how many bytes of the pack are in its file, or on their way.
func (w *packWriter) Written() int64 { return w.done }

// Next returns the offset of the entry that is added next.
func (w *packWriter) Next() int64 { return max(packHead, w.done+int64(len(w.buf))) }

// WriteBehind has the system write a large pack to the disk while it grows.
func (w *packWriter) WriteBehind() { w.behind = new(writeBehind) }

// add appends an entry, header included.
func (w *packWriter) add(id object.ID, crc uint32, entry []byte) error {
	if len(w.buf) > 0 && len(w.buf)+len(entry) > spillAt {
		if err := w.spill(); err != nil {
			return err
		}
	}
	if err := w.begin(id, crc); err != nil {
		return err
	}
	w.room(len(entry))
	w.buf = append(w.buf, entry...)
	if len(w.buf) < spillAt {
		return nil
	}
	return w.spill()
}

// room makes room for n bytes and the checksum that comes last. Left to append, a large
// buffer grows by a quarter each time, and a pack is copied five times until it is complete.
func (w *packWriter) room(n int) {
	if w.buf == nil {
		w.buf = takeBuffer()
	}
	if n += sha1.Size; cap(w.buf)-len(w.buf) < n {
		w.buf = append(make([]byte, 0, max(min(2*cap(w.buf), spillAt), len(w.buf)+n, firstRoom)), w.buf...)
	}
}

// packBuffers keeps buffers for the next pack: a Repo that stays open makes one pack after
// the other, and to grow a buffer for each, from memory that has to be cleared, takes longer
// than to fill it.
var packBuffers sync.Pool

// keptBuffer is the size up to which one is kept.
const keptBuffer = 2 << 20

func takeBuffer() []byte {
	if b, ok := packBuffers.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return nil
}

// giveBuffer takes a buffer that nobody refers to any more.
func giveBuffer(b []byte) {
	if cap(b) >= firstRoom && cap(b) <= keptBuffer {
		packBuffers.Put(&b)
	}
}

// firstRoom is what a capture of one changed file takes up.
const firstRoom = 4 << 10

// addFrom appends an entry that r yields.
func (w *packWriter) addFrom(id object.ID, crc uint32, r io.Reader) error {
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

func (w *packWriter) begin(id object.ID, crc uint32) error {
	if len(w.rows) == math.MaxInt32 {
		return errors.New("too many objects for one pack")
	}
	if len(w.rows) == 0 {
		w.room(packHead)
		w.buf = append(w.buf, "PACK\x00\x00\x00\x02\x00\x00\x00\x00"...) // the count is set at the end
	}
	w.rows = append(w.rows, row{id, crc, w.done + int64(len(w.buf))})
	return nil
}

// ask reports whether bytes may be written. After a refusal they are only counted: allow
// hears of all bytes, so that its last answer knows how many the whole pack needs.
func (w *packWriter) ask(more int) bool {
	if w.Allow != nil && more > 0 {
		if err := w.Allow(int64(more)); err != nil {
			w.short = err
		}
	}
	return w.short == nil
}

// skip drops what must not be written.
func (w *packWriter) skip() error {
	_, err := w.settle()
	w.done += int64(len(w.buf))
	w.buf = w.buf[:0]
	return err
}

// allowedWriter writes to the pack what may be written.
type allowedWriter struct{ w *packWriter }

func (a *allowedWriter) Write(p []byte) (int, error) {
	if !a.w.ask(len(p)) {
		return len(p), nil
	}
	return a.w.file.Write(p)
}

// sumBuffer is how much is read back at once to be summed up: it fits into the cache
// that a processor has for itself.
const sumBuffer = 256 << 10

// finish sets the count, appends the checksum and writes what is left.
func (w *packWriter) finish() (sum [sha1.Size]byte, err error) {
	defer w.behind.end() // the file may go to somebody else
	if w.file == nil && w.short == nil {
		return w.finishBuffer(), w.flushAll()
	}
	if err := w.flushAll(); err != nil {
		return sum, err
	}
	if _, err := w.file.WriteAt(w.count(), 8); err != nil {
		return sum, err
	}
	w.behind.grown(w.file, w.done, 1) // the disk has something to do during what follows
	h := sha1.New()
	if n, err := io.CopyBuffer(h, io.NewSectionReader(w.file, 0, w.done), make([]byte, sumBuffer)); err != nil || n != w.done {
		return sum, errors.Join(err, fmt.Errorf("read %d of %d bytes back", n, w.done))
	}
	w.buf = h.Sum(w.buf)
	sum = [sha1.Size]byte(w.buf)
	return sum, w.flushAll()
}

// finishBuffer is finish for a pack of which nothing has been written yet.
func (w *packWriter) finishBuffer() (sum [sha1.Size]byte) {
	copy(w.buf[8:], w.count())
	sum = sha1.Sum(w.buf)
	w.buf = append(w.buf, sum[:]...)
	return sum
}

// flushAll is flush for the end of a pack: a pack of which something was skipped fails.
func (w *packWriter) flushAll() error {
	if err := w.flush(); err != nil {
		return err
	}
	if w.short != nil {
		w.ask(indexSize(len(w.rows))) // for the sum
	}
	return w.short
}

// indexSize is the size of the index of a small pack with n objects.
func indexSize(n int) int { return idxHead + n*(idSize+8) + 2*sha1.Size }

func (w *packWriter) count() []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(len(w.rows)))
}

// discard removes the temporary file.
func (w *packWriter) discard() {
	_, _ = w.settle()
	w.behind.end()
	if w.file != nil {
		atomicfile.Discard(w.file)
		w.file = nil
	}
	giveBuffer(w.buf)
	w.buf, w.rows = nil, nil
}

// size is that of a pack that is complete, with its index.
func (w *packWriter) size() int64 {
	return w.done + int64(len(w.buf)) + int64(idxHead+idxTail+len(w.rows)*(idSize+8))
}

// writeIndex writes the index under a temporary name.
func (w *packWriter) writeIndex(sum [sha1.Size]byte) (*os.File, error) {
	data, err := encodeIndex(w.rows, sum, offsetBit)
	if err != nil {
		return nil, err
	}
	if !w.ask(len(data)) {
		return nil, w.short
	}
	return atomicfile.CreateWith(w.dir, tempPrefix, data)
}
