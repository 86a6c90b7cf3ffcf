package odb

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

const (
	packHead   = 12 // magic, version, number of objects
	packPrefix = "pack-"
	packExt    = ".pack"
	idxExt     = ".idx"
	keepExt    = ".keep"
)

// pack is a pack of the store. Its files are opened when they are first needed.
// What is wrong with them is remembered until the packs are listed again.
type pack struct {
	stem string    // path without extension
	made time.Time // when its index was written; zero = not known

	named sync.Once
	isOwn bool // see own

	large  atomic.Bool  // too large to be folded
	filter *idFilter    // that has its ids; see idsOfPacks
	misses atomic.Int64 // searches in vain

	mu     sync.Mutex // held while opening
	idx    atomic.Pointer[index]
	body   atomic.Pointer[packBody]
	files  []*os.File
	closed bool
	damage error // why the pack cannot be used at all
}

// packBody is the open file of a pack.
type packBody struct {
	src io.ReaderAt
	end int64 // where the entries end and the checksum begins
}

func newPack(dir, name string) *pack { return &pack{stem: filepath.Join(dir, name)} }

func (p *pack) name() string { return filepath.Base(p.stem) }

// wrap adds the path to an error, and turns those of vanished files into errGone.
func (p *pack) wrap(ext string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrClosed):
		return errGone
	}
	return fmt.Errorf("%s%s: %w", p.stem, ext, err)
}

// index returns the open index.
func (p *pack) index() (*index, error) {
	if x := p.idx.Load(); x != nil {
		return x, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.idx.Load(); x != nil || p.damage != nil {
		return x, p.damage
	}
	f, size, err := p.open(idxExt)
	if err != nil {
		return nil, err
	}
	x, err := openIndex(f, size)
	if err != nil {
		f.Close()
		return nil, p.broken(idxExt, err)
	}
	if x.data != nil {
		f.Close()
		x.src = nil
	} else {
		p.files = append(p.files, f)
	}
	p.idx.Store(x)
	return x, nil
}

// Opened reports whether the index is at hand.
func (p *pack) Opened() bool { return p.idx.Load() != nil }

// setIndex installs the index that was just written, which saves reading it.
func (p *pack) setIndex(written []byte) {
	if x, err := openIndex(bytes.NewReader(written), int64(len(written))); err == nil && x.data != nil {
		x.src = nil
		p.idx.Store(x)
	}
}

// data returns the open pack, once its frame has been compared with the index:
// number of objects and checksum. That finds packs that were cut off or emptied by
// a crash, whose objects must not count as present.
func (p *pack) data() (*packBody, error) {
	if b := p.body.Load(); b != nil {
		return b, nil
	}
	x, err := p.index()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.body.Load(); b != nil || p.damage != nil {
		return b, p.damage
	}
	f, size, err := p.open(packExt)
	if err != nil {
		return nil, err
	}
	b, err := openPackBody(f, size, x)
	if err != nil {
		f.Close()
		return nil, p.broken(packExt, err)
	}
	p.files = append(p.files, f)
	p.body.Store(b)
	return b, nil
}

// openPackBody checks the frame of a pack of size bytes against its index.
func openPackBody(src io.ReaderAt, size int64, x *index) (*packBody, error) {
	if size < packHead+sha1.Size {
		return nil, corrupt("pack of %d bytes", size)
	}
	var head [packHead]byte
	if err := readAt(src, head[:], 0); err != nil {
		return nil, err
	}
	version := binary.BigEndian.Uint32(head[4:])
	if string(head[:4]) != "PACK" || version != 2 && version != 3 {
		return nil, corrupt("not a pack of version 2 or 3")
	}
	if n := binary.BigEndian.Uint32(head[8:]); int64(n) != int64(x.n) {
		return nil, corrupt("pack of %d objects, its index has %d", n, x.n)
	}
	var sum [sha1.Size]byte
	if err := readAt(src, sum[:], size-sha1.Size); err != nil {
		return nil, err
	}
	if !bytes.Equal(sum[:], x.packSum[:]) {
		return nil, corrupt("pack is not the one that its index belongs to")
	}
	return &packBody{src: src, end: size - sha1.Size}, nil
}

// readAt fills buf; a file that ends before is corrupt.
func readAt(src io.ReaderAt, buf []byte, off int64) error {
	n, err := src.ReadAt(buf, off)
	switch {
	case n == len(buf):
		return nil
	case err == io.EOF:
		return corrupt("file ends before %d", off+int64(len(buf)))
	}
	return err
}

// open opens one of the files; p.mu is held.
func (p *pack) open(ext string) (*os.File, int64, error) {
	if p.closed {
		return nil, 0, errGone
	}
	f, err := atomicfile.Open(p.stem + ext)
	if err != nil {
		return nil, 0, p.wrap(ext, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, p.wrap(ext, err)
	}
	return f, info.Size(), nil
}

// broken remembers damage; p.mu is held. Errors of the system may pass and are not
// remembered.
func (p *pack) broken(ext string, err error) error {
	err = p.wrap(ext, err)
	if errors.Is(err, ErrCorrupt) {
		p.damage = err
	}
	return err
}

func (p *pack) damaged() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.damage != nil
}

// close closes the files. Reads that are under way end well or in errGone.
func (p *pack) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.idx.Store(nil)
	p.body.Store(nil)
	for _, f := range p.files {
		f.Close()
	}
	p.files = nil
}

// find returns the offset of an object, if the pack has it and is fit to be read.
func (p *pack) find(id object.ID) (off int64, ok bool, err error) {
	x, err := p.index()
	if err != nil {
		return 0, false, err
	}
	off, ok, err = x.find(id)
	if err != nil {
		return 0, false, p.wrap(idxExt, err)
	}
	if !ok {
		return 0, false, nil
	}
	body, err := p.data()
	if err != nil {
		return 0, false, err
	}
	if off < packHead || off >= body.end {
		return 0, false, p.wrap(idxExt, corrupt("offset %d outside the pack", off))
	}
	return off, true, nil
}

// inflaterAt returns an inflater at the contents of the entry at off.
func (p *pack) inflaterAt(off int64) (entry, *inflater, error) {
	body, err := p.data()
	if err != nil {
		return entry{}, nil, err
	}
	if off < packHead || off >= body.end {
		return entry{}, nil, p.wrap(packExt, corrupt("entry at %d", off))
	}
	z := newInflater(body.src, off, body.end)
	e, err := z.entry(off)
	if err != nil {
		z.release()
		return entry{}, nil, p.at(off, err)
	}
	return e, z, nil
}

// inflate returns the contents of the entry at off: an object or a delta.
func (p *pack) inflate(off int64) (entry, []byte, error) {
	e, z, err := p.inflaterAt(off)
	if err != nil {
		return entry{}, nil, err
	}
	defer z.release()
	data, err := z.contents(e.size)
	return e, data, p.at(off, err)
}

func (p *pack) at(off int64, err error) error {
	if err == nil || errors.Is(err, fs.ErrClosed) {
		return p.wrap(packExt, err)
	}
	return p.wrap(packExt, fmt.Errorf("entry at %d: %w", off, err))
}

// ownName returns the name of a pack that this package writes: derived from its
// checksum, so that equal packs have equal names, and different from git's, which
// is that checksum.
func ownName(packSum [sha1.Size]byte) string {
	sum := sha1.Sum(append([]byte("cairn pack\x00"), packSum[:]...))
	return packPrefix + hex.EncodeToString(sum[:])
}

// own reports whether this package wrote the pack.
func (p *pack) own() bool {
	x, err := p.index()
	if err != nil {
		return false
	}
	p.named.Do(func() { p.isOwn = p.name() == ownName(x.packSum) })
	return p.isOwn
}

// packStem returns the name of a pack without extension from that of its index.
func packStem(name string) (string, bool) {
	stem, ok := strings.CutSuffix(name, idxExt)
	return stem, ok && strings.HasPrefix(stem, packPrefix)
}

func (p *pack) has(id object.ID) bool {
	_, ok, err := p.find(id)
	return ok && err == nil
}

func (p *pack) objects() int {
	x, err := p.index()
	if err != nil {
		return 0
	}
	return x.n
}

// openDamaged opens a pack by its index without looking at its frame.
func openDamaged(stem string) (*pack, error) {
	p := newPack(filepath.Dir(stem), filepath.Base(stem))
	if _, err := p.index(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f, size, err := p.open(packExt)
	if err != nil {
		return nil, err
	}
	p.files = append(p.files, f)
	p.body.Store(&packBody{src: f, end: size})
	return p, nil
}

// listPacks returns the sorted names of the packs that have both their files.
func listPacks(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var stems []string
	for _, name := range names {
		if stem, ok := packStem(name); ok {
			if _, found := slices.BinarySearch(names, stem+packExt); found {
				stems = append(stems, stem)
			}
		}
	}
	return stems, nil
}
