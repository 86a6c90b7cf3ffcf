package odb

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/redo"
)

// errBatchDone is the error of a batch after Commit or Discard.
var errBatchDone = errors.New("batch is finished")

// Batch collects objects and writes them as one pack. Several goroutines may call its methods,
// which hash and compress in the goroutine of the caller. The caller ends every batch with Commit
// or Discard.
type Batch struct {
	db        *DB
	looseDirs [256]bool
	plain     atomic.Int64 // bytes of contents that may still be stored uncompressed

	mu   sync.Mutex
	w    *pack.Writer
	err  error // why no object can be added any more
	done bool
}

// NewBatch returns an empty batch. It lists the packs of the store again if they may have
// changed, so that the batch writes objects that another process has removed. The lock keeps the
// packs unchanged from here to Commit.
func (db *DB) NewBatch() *Batch {
	b := &Batch{db: db, w: pack.NewWriter(db.path(packDir))}
	if !db.opt.NoSync {
		b.w.WriteBehind()
	}
	if err := db.refresh(false); err != nil {
		b.err = err
	}
	b.looseDirs = db.looseDirs()
	b.plain.Store(plainMost)
	return b
}

// Add puts an object into the batch, unless the batch or the store has it. The batch keeps no
// reference to content.
func (b *Batch) Add(k object.Kind, content []byte) (object.ID, error) {
	id := object.Sum(k, content)
	return id, b.AddAs(id, k, content)
}

// AddAs is Add of an object whose id the caller has computed.
func (b *Batch) AddAs(id object.ID, k object.Kind, content []byte) error {
	if b.Has(id) {
		return b.failed()
	}
	d := pack.NewDeflater()
	defer d.Release()
	entry, err := d.Encode(k, content, !b.uncompressed(k, len(content)) && d.Worthwhile(k, content))
	if err != nil {
		return err
	}
	return b.put(id, func() error { return b.w.Add(id, crc32.ChecksumIEEE(entry), entry) })
}

// uncompressed reports whether an object is stored uncompressed to save time, see plainMost.
func (b *Batch) uncompressed(k object.Kind, size int) bool {
	small := k == object.Tree && size <= plainTree || k == object.Blob && size <= plainBlob
	return small && b.plain.Add(-int64(size)) >= 0
}

// put adds an object by means of write, unless another goroutine has added it meanwhile. After a
// failed write the whole pack is lost.
func (b *Batch) put(id object.ID, write func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.usable(); err != nil {
		return err
	}
	if b.w.Has(id) {
		return nil
	}
	if err := write(); err != nil {
		b.err = fmt.Errorf("write pack into %s: %w", b.db.dir, err)
		b.w.Discard()
		return b.err
	}
	return nil
}

// usable returns why nothing can be added to the batch. The caller holds b.mu.
func (b *Batch) usable() error {
	if b.done {
		return errBatchDone
	}
	return b.err
}

// failed is usable for a caller that does not hold b.mu.
func (b *Batch) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.usable()
}

// Has reports whether the object is in the batch or the store. It does not notice objects that
// other processes store while the batch is open. Such an object is stored twice.
func (b *Batch) Has(id object.ID) bool {
	b.mu.Lock()
	has := b.w.Has(id)
	b.mu.Unlock()
	return has || b.db.hasPacked(id) || b.looseDirs[id[0]] && b.db.Loose(id).Check() == nil
}

// Len returns the number of objects that Commit will write.
func (b *Batch) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.w.Len()
}

// Commit writes the objects of the batch into the store, all or none, and then sets
// the refs, in their order. Without objects it writes no pack. Unless the store was
// opened with NoSync, all is on the disk when it returns, and no ref was there before
// the objects.
func (b *Batch) Commit(refs ...RefUpdate) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.usable(); err != nil {
		return err
	}
	b.done = true
	b.hide() // before the publish: a reader would wait for the disk with it
	if b.w.Len() == 0 {
		return b.db.SetRefs(refs...)
	}
	_, err := b.db.publish(b.w, refs...)
	return err
}

// Show lets DB.Read find the objects of the batch from now until Commit or Discard, so that a caller looks at what it
// is about to publish without a publish of its own. It reports false, and shows nothing, where the batch is not small
// or has ended. A DB shows one batch at a time.
func (b *Batch) Show() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.usable() != nil || !b.w.InMemory() || b.w.Size() > redo.MaxRecord {
		return false
	}
	b.db.shown.Store(b)
	return true
}

// hide ends Show. The caller holds b.mu.
func (b *Batch) hide() { b.db.shown.CompareAndSwap(b, nil) }

// read returns an object of the batch. found is false where the batch does not have it, or has ended.
func (b *Batch) read(id object.ID) (kind object.Kind, content []byte, found bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.w.Has(id) || b.usable() != nil || !b.w.InMemory() {
		return 0, nil, false, nil
	}
	kind, content, err = b.w.Read(id)
	return kind, content, true, err
}

// Discard drops the batch and removes its files. After Commit it does nothing, so that it can be
// deferred.
func (b *Batch) Discard() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = true
	b.hide()
	b.w.Discard()
}

// hasPacked reports whether one of the known packs has the object.
func (db *DB) hasPacked(id object.ID) bool {
	last, packs := db.last.Load(), db.packs.Load().packs
	if slices.Contains(packs, last) && last.Has(id) {
		return true
	}
	for _, p := range packs {
		if p != last && p.Has(id) {
			db.last.Store(p)
			return true
		}
	}
	return false
}

// readBuffers holds buffers for the contents of blobs.
var readBuffers = sync.Pool{New: func() any { return new([]byte) }}

// AddBlob adds a blob of exactly size bytes from r. If r yields fewer or more bytes, or fails,
// the batch is unchanged. A large blob passes through a temporary file. If r can seek, AddBlob
// first hashes a large blob, to see whether it is stored already.
func (b *Batch) AddBlob(r io.Reader, size int64) (object.ID, error) {
	if size < 0 {
		return object.ID{}, fmt.Errorf("blob of %d bytes", size)
	}
	if size > pack.StreamAbove {
		return b.addLarge(r, size)
	}
	buf := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buf)
	if int64(cap(*buf)) < size {
		*buf = make([]byte, size)
	}
	content := (*buf)[:size]
	if err := pack.ReadExactly(r, content); err != nil {
		return object.ID{}, err
	}
	return b.Add(object.Blob, content)
}

// A small capture consists of the beginning of a batch, and its caller waits for it. The first
// plainMost bytes of small objects are stored uncompressed therefore: trees of up to plainTree,
// which compress at 60 MB/s to two thirds, and blobs of up to plainBlob, which compress to a half
// in 10 us or more each. All other objects are compressed, because a collection that makes no
// deltas copies entries as they are.
const (
	plainMost = 1 << 20
	plainTree = 64 << 10
	plainBlob = 1 << 10
)

// addLarge adds a blob through a temporary file of its own, so that other goroutines add objects
// meanwhile.
func (b *Batch) addLarge(r io.Reader, size int64) (object.ID, error) {
	if err := b.failed(); err != nil {
		return object.ID{}, err
	}
	if start, ok := position(r); ok {
		id, err := pack.HashBlob(r, size)
		if err != nil || b.Has(id) {
			return id, err
		}
		if _, err := r.(io.Seeker).Seek(start, io.SeekStart); err != nil {
			return id, err
		}
	}
	f, err := atomicfile.Create(b.w.Dir(), pack.TempPrefix)
	if err != nil {
		return object.ID{}, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	// The contents may have changed since they were hashed. The id of this reading counts.
	id, crc, err := pack.WriteBlob(f, r, size)
	if err != nil || b.Has(id) {
		return id, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return id, err
	}
	return id, b.put(id, func() error { return b.w.AddFrom(id, crc, f) })
}

// position returns the offset of r, if r can seek.
func position(r io.Reader) (off int64, ok bool) {
	s, ok := r.(io.Seeker)
	if !ok {
		return 0, false
	}
	off, err := s.Seek(0, io.SeekCurrent)
	return off, err == nil
}
