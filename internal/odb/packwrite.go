package odb

import (
	"bufio"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"runtime"
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
	allow  func(more int64) error // asked before bytes are written; may be nil
	short  error                  // the last refusal of allow; from the first on nothing is written
}

func newPackWriter(dir string) *packWriter { return &packWriter{dir: dir} }

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
	if w.allow != nil && more > 0 {
		if err := w.allow(int64(more)); err != nil {
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
		dispose(w.file)
		w.file = nil
	}
	giveBuffer(w.buf)
	w.buf, w.rows = nil, nil
}

// publish makes a pack and its index out of what was added, puts them into the store,
// and then sets refs. No object is visible before the index is renamed, and no ref is
// there before the objects. How it gets to the disk, publishSmall, publishLogged and
// publishFlushed say.
func (db *DB) publish(w *packWriter, refs ...RefUpdate) (*pack, error) {
	defer w.discard()
	if p, done, err := db.publishSmall(w, refs); done || err != nil {
		return p, err
	}
	writes, err := db.prepareRefs(refs)
	if err != nil {
		return nil, err
	}
	defer discardRefs(writes)
	s, err := db.complete(w)
	if err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	defer s.discard()
	if len(writes) == 0 {
		return db.publishFlushed(s, nil)
	}
	h, err := db.refLog()
	if err != nil {
		return nil, err
	}
	defer h.release()
	if h == nil {
		return db.publishFlushed(s, writes)
	}
	return db.publishLogged(h, s, writes)
}

// publishFlushed flushes pack, index and refs at the same time, renames the pack,
// flushes its directory, and then renames the refs and flushes theirs.
func (db *DB) publishFlushed(s *sealed, writes []refWrite) (*pack, error) {
	if err := db.flush(append(tempFiles(writes), s.pack, s.idx)...); err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	if len(writes) == 0 || !db.inOrder() { // else one wait for the disk is enough
		p, err := db.install(s)
		if err != nil || len(writes) == 0 {
			return p, err
		}
		return p, db.moveRefs(writes)
	}
	p, err := db.rename(s)
	if err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	return p, db.moveRefs(writes, db.path(packDir))
}

// sealed is a complete pack that lies on the disk under temporary names.
type sealed struct {
	name      string
	pack, idx *os.File     // nil once they have their names
	index     []byte       // what idx holds, where that is in memory
	size      int64        // of both
	byGit     bool         // its name does not follow from its contents
	clean     func() error // removes the rest of the directory that they lie in, if that is their own
}

// discard removes what has not been installed.
func (s *sealed) discard() {
	dispose(s.pack)
	dispose(s.idx)
	if s.clean != nil {
		_ = s.clean() // Sweep will
	}
}

// seal ends a pack and flushes it. It needs no lock. The pack stays claimed until it
// is installed or discarded, so that Sweep does not take it for the remains of a
// crash; where there are no claims only the lock keeps Sweep away.
func (db *DB) seal(w *packWriter) (*sealed, error) {
	s, err := db.complete(w)
	if err != nil {
		return nil, err
	}
	if err := db.flush(s.pack, s.idx); err != nil {
		s.discard()
		return nil, err
	}
	return s, nil
}

// complete is seal without the flush.
func (db *DB) complete(w *packWriter) (*sealed, error) {
	sum, err := w.finish()
	if err != nil {
		return nil, err
	}
	idx, err := w.writeIndex(sum)
	if err != nil {
		return nil, err
	}
	s := &sealed{name: ownName(sum), pack: w.file, idx: idx, size: w.size()}
	w.file = nil // the pack's owner is another now
	return s, nil
}

// size is that of a pack that is complete, with its index.
func (w *packWriter) size() int64 {
	return w.done + int64(len(w.buf)) + int64(idxHead+idxTail+len(w.rows)*(idSize+8))
}

// install gives pack and index their names and makes them known.
func (db *DB) install(s *sealed) (*pack, error) {
	p, err := db.rename(s)
	if err == nil {
		err = db.syncDirs(db.path(packDir))
	}
	if err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	return p, nil
}

func (db *DB) rename(s *sealed) (*pack, error) {
	if p := db.intact(s.name); p != nil {
		return p, nil
	}
	p := newPack(db.path(packDir), s.name)
	if err := s.moveTo(p.stem); err != nil {
		return nil, err
	}
	p.know(s.index)
	db.add(p)
	return p, nil
}

// moveTo renames the index last, which makes the objects visible. With a name of git's
// it is the other way round: a crash in between must not leave what could be a pack
// that a git is about to complete, and no git has an index before its pack.
func (s *sealed) moveTo(stem string) error {
	first, second, firstExt, secondExt := &s.pack, &s.idx, packExt, idxExt
	if s.byGit {
		first, second, firstExt, secondExt = second, first, secondExt, firstExt
	}
	if err := rename(first, stem+firstExt); err != nil {
		return err
	}
	return rename(second, stem+secondExt)
}

// intact returns the pack of that name if it is there and fit to be read. Its
// contents follow from its name.
func (db *DB) intact(name string) *pack {
	for _, p := range db.packs.Load().packs {
		if p.name() != name {
			continue
		}
		if _, err := p.data(); err == nil {
			return p
		}
	}
	return nil
}

const onWindows = runtime.GOOS == "windows"

// rename gives a temporary file its name and closes it; then it is nil.
func rename(f **os.File, path string) error {
	if onWindows { // which does not rename open files
		if err := (*f).Close(); err != nil {
			return err
		}
	}
	if err := atomicfile.Rename((*f).Name(), path); err != nil {
		return err
	}
	(*f).Close() // nothing is written to it any more
	*f = nil
	return nil
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
	return writeTemp(w.dir, tempPrefix, data)
}

// writeTemp returns a temporary file that holds data.
func writeTemp(dir, prefix string, data []byte) (*os.File, error) {
	f, err := atomicfile.Create(dir, prefix)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(data); err != nil {
		dispose(f)
		return nil, err
	}
	return f, nil
}

// dispose closes a temporary file, if there is one, and removes it if it still has its
// name.
func dispose(f *os.File) {
	if f != nil {
		f.Close()
		os.Remove(f.Name())
	}
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
