package pack

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// The names of the files of a pack, and the size of the header.
const (
	HeadSize = 12 // magic, version, number of objects
	Prefix   = "pack-"
	Ext      = ".pack"
	IndexExt = ".idx"
	KeepExt  = ".keep"
)

// Pack is one pack and its index. Its files are opened when they are first needed.
// Damage to them is remembered for the life of the Pack.
type Pack struct {
	Stem string    // path without extension
	Made time.Time // when its index was written; zero = not known

	named sync.Once
	isOwn bool // see Own

	Large atomic.Bool // set by the caller: too large to be folded

	searches atomic.Int64 // in the file of the index

	mu     sync.Mutex // held while opening
	idx    atomic.Pointer[Index]
	body   atomic.Pointer[Body]
	files  []*os.File
	closed bool
	damage error // why the pack cannot be used at all
}

// Body is the open file of a pack.
type Body struct {
	Src io.ReaderAt
	End int64 // where the entries end and the checksum begins
}

// New returns the pack of a name, without extension, in a directory. It opens no file.
func New(dir, name string) *Pack { return &Pack{Stem: filepath.Join(dir, name)} }

// Name returns the name of the files without extension.
func (p *Pack) Name() string { return filepath.Base(p.Stem) }

// Wrap adds the path to an error, and turns those of vanished files into ErrGone.
func (p *Pack) Wrap(ext string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrClosed):
		return ErrGone
	}
	return fmt.Errorf("%s%s: %w", p.Stem, ext, err)
}

// Index returns the open index.
func (p *Pack) Index() (*Index, error) {
	if x := p.idx.Load(); x != nil {
		return x, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.idx.Load(); x != nil || p.damage != nil {
		return x, p.damage
	}
	f, size, err := p.open(IndexExt)
	if err != nil {
		return nil, err
	}
	x, err := openIndex(f, size)
	if err != nil {
		f.Close()
		return nil, p.broken(IndexExt, err)
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

// Opened reports whether the index has been read.
func (p *Pack) Opened() bool { return p.idx.Load() != nil }

// setIndex installs the index that was just written, which saves reading it.
func (p *Pack) setIndex(written []byte) {
	if x, err := openIndex(bytes.NewReader(written), int64(len(written))); err == nil && x.data != nil {
		x.src = nil
		p.idx.Store(x)
	}
}

// Body returns the open pack, once its frame has been compared with the index:
// number of objects and checksum. That finds packs that a crash cut off or emptied:
// their objects must not count as present.
func (p *Pack) Body() (*Body, error) {
	if b := p.body.Load(); b != nil {
		return b, nil
	}
	x, err := p.Index()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.body.Load(); b != nil || p.damage != nil {
		return b, p.damage
	}
	f, size, err := p.open(Ext)
	if err != nil {
		return nil, err
	}
	b, err := openBody(f, size, x)
	if err != nil {
		f.Close()
		return nil, p.broken(Ext, err)
	}
	p.files = append(p.files, f)
	p.body.Store(b)
	return b, nil
}

// openBody checks the frame of a pack of size bytes against its index.
func openBody(src io.ReaderAt, size int64, x *Index) (*Body, error) {
	if size < HeadSize+sha1.Size {
		return nil, Corrupt("pack of %d bytes", size)
	}
	var head [HeadSize]byte
	if err := ReadAt(src, head[:], 0); err != nil {
		return nil, err
	}
	version := binary.BigEndian.Uint32(head[4:])
	if string(head[:4]) != "PACK" || version != 2 && version != 3 {
		return nil, Corrupt("not a pack of version 2 or 3")
	}
	if n := binary.BigEndian.Uint32(head[8:]); int64(n) != int64(x.N) {
		return nil, Corrupt("pack of %d objects, its index has %d", n, x.N)
	}
	var sum [sha1.Size]byte
	if err := ReadAt(src, sum[:], size-sha1.Size); err != nil {
		return nil, err
	}
	if !bytes.Equal(sum[:], x.packSum[:]) {
		return nil, Corrupt("pack is not the one that its index belongs to")
	}
	return &Body{Src: src, End: size - sha1.Size}, nil
}

// ReadAt fills buf; a file that ends before is corrupt.
func ReadAt(src io.ReaderAt, buf []byte, off int64) error {
	n, err := src.ReadAt(buf, off)
	switch {
	case n == len(buf):
		return nil
	case err == io.EOF:
		return Corrupt("file ends before %d", off+int64(len(buf)))
	}
	return err
}

// open opens one of the files; p.mu is held.
func (p *Pack) open(ext string) (*os.File, int64, error) {
	if p.closed {
		return nil, 0, ErrGone
	}
	f, err := atomicfile.Open(p.Stem + ext)
	if err != nil {
		return nil, 0, p.Wrap(ext, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, p.Wrap(ext, err)
	}
	return f, info.Size(), nil
}

// broken remembers damage; p.mu is held. Errors of the system may pass and are not
// remembered.
func (p *Pack) broken(ext string, err error) error {
	err = p.Wrap(ext, err)
	if errors.Is(err, ErrCorrupt) {
		p.damage = err
	}
	return err
}

// Damaged reports whether damage was found that makes the pack unusable.
func (p *Pack) Damaged() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.damage != nil
}

// Close closes the files. Reads that are under way end well or in ErrGone.
func (p *Pack) Close() {
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

// Find returns the offset of an object, if the pack has it and is fit to be read.
func (p *Pack) Find(id object.ID) (off int64, ok bool, err error) {
	x, err := p.Index()
	if err != nil {
		return 0, false, err
	}
	off, ok, err = x.Find(id)
	if err != nil {
		return 0, false, p.Wrap(IndexExt, err)
	}
	p.searched(x)
	if !ok {
		return 0, false, nil
	}
	body, err := p.Body()
	if err != nil {
		return 0, false, err
	}
	if off < HeadSize || off >= body.End {
		return 0, false, p.Wrap(IndexExt, Corrupt("offset %d outside the pack", off))
	}
	return off, true, nil
}

// inflaterAt returns an inflater at the contents of the entry at off.
func (p *Pack) inflaterAt(off int64) (Entry, *Inflater, error) {
	body, err := p.Body()
	if err != nil {
		return Entry{}, nil, err
	}
	if off < HeadSize || off >= body.End {
		return Entry{}, nil, p.Wrap(Ext, Corrupt("entry at %d", off))
	}
	z := NewInflater(body.Src, off, body.End)
	e, err := z.Entry(off)
	if err != nil {
		z.Release()
		return Entry{}, nil, p.WrapAt(off, err)
	}
	return e, z, nil
}

// inflate returns the contents of the entry at off: an object or a delta.
func (p *Pack) inflate(off int64) (Entry, []byte, error) {
	e, z, err := p.inflaterAt(off)
	if err != nil {
		return Entry{}, nil, err
	}
	defer z.Release()
	data, err := z.Contents(e.Size)
	return e, data, p.WrapAt(off, err)
}

// WrapAt is Wrap for an error of the entry at off.
func (p *Pack) WrapAt(off int64, err error) error {
	if err == nil || errors.Is(err, fs.ErrClosed) {
		return p.Wrap(Ext, err)
	}
	return p.Wrap(Ext, fmt.Errorf("entry at %d: %w", off, err))
}

// Has reports whether the pack has an object. A pack that cannot be searched has none.
func (p *Pack) Has(id object.ID) bool {
	_, ok, err := p.Find(id)
	return ok && err == nil
}

// Objects returns the number of objects, 0 for a pack without a readable index.
func (p *Pack) Objects() int {
	x, err := p.Index()
	if err != nil {
		return 0
	}
	return x.N
}

// OpenDamaged opens a pack by its index without looking at its frame.
func OpenDamaged(stem string) (*Pack, error) {
	p := New(filepath.Dir(stem), filepath.Base(stem))
	if _, err := p.Index(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f, size, err := p.open(Ext)
	if err != nil {
		return nil, err
	}
	p.files = append(p.files, f)
	p.body.Store(&Body{Src: f, End: size})
	return p, nil
}

// FileBytes returns the size of the files of a pack. A file that is gone counts nothing.
func (p *Pack) FileBytes() (size int64) {
	for _, ext := range []string{Ext, IndexExt} {
		if info, err := os.Lstat(p.Stem + ext); err == nil {
			size += info.Size()
		}
	}
	return size
}
