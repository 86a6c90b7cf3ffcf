package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/loan"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Loose is an object in a file of its own. It is a pack.Source. This package writes none: a git that
// writes into the store does, and BorrowLoose links those of another repository.
type Loose struct{ Path string }

// Loose returns the loose object of an id, which may be absent.
func (db *DB) Loose(id object.ID) Loose {
	hex := id.String()
	return Loose{db.path("objects", hex[:2], hex[2:])}
}

// maxLooseHead is the longest header: "commit", a size of 19 digits, blank and NUL.
const maxLooseHead = 32

// looseReader is an inflater that has read the header of a loose object.
type looseReader struct {
	file *os.File
	*pack.Inflater
	kind object.Kind
	size int64
}

// start opens the file and reads the header.
func (o Loose) start() (*looseReader, error) {
	f, err := atomicfile.Open(o.Path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", o.Path, ErrNotFound)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	r := &looseReader{file: f, Inflater: pack.NewInflater(f, 0, info.Size())}
	if r.kind, r.size, err = looseHead(r.Inflater); err != nil {
		r.close()
		return nil, o.Wrap(err)
	}
	return r, nil
}

func (r *looseReader) close() {
	r.Inflater.Release()
	r.file.Close()
}

// Wrap adds the path to an error.
func (o Loose) Wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", o.Path, err)
}

// headWindow is how many bytes of a loose object hold its header at most. The tables of the first block come before it,
// 0.6 KiB at most.
const headWindow = 1 << 10

// headOf reads the header of a loose object in a file of so many bytes.
func headOf(file io.ReaderAt, length int64) (k object.Kind, size int64, err error) {
	k, size, ok := plainHead(file, length)
	if !ok {
		k, size, err = inflatedHead(file, length)
	}
	if err == nil && size/maxInflation > length {
		return 0, 0, pack.Corrupt("%d bytes said to be in %d compressed ones", size, length)
	}
	return k, size, err
}

// headBuffers hold the beginnings of files.
var headBuffers = sync.Pool{New: func() any { return new([pack.ZlibReach]byte) }}

// plainHead reads a header in which nothing repeats, as nearly all are: an inflater takes several times as long for it.
func plainHead(file io.ReaderAt, length int64) (k object.Kind, size int64, ok bool) {
	buf := headBuffers.Get().(*[pack.ZlibReach]byte)
	defer headBuffers.Put(buf)
	n, err := file.ReadAt(buf[:min(length, pack.ZlibReach)], 0)
	if err != nil && err != io.EOF {
		return 0, 0, false
	}
	var room [maxLooseHead]byte
	head := pack.LeadingLiterals(room[:0], buf[:n])
	end := bytes.IndexByte(head, 0)
	if end < 0 {
		return 0, 0, false
	}
	k, size, err = parseLooseHead(head[:end])
	return k, size, err == nil
}

// inflatedHead decompresses no more than a window: most of the contents would follow otherwise.
func inflatedHead(file io.ReaderAt, length int64) (k object.Kind, size int64, err error) {
	z := pack.NewInflater(file, 0, min(length, headWindow))
	defer z.Release()
	return looseHead(z)
}

// maxInflation is how many bytes deflate makes out of one at most.
const maxInflation = 1032

// looseHead begins the decompression and reads the header.
func looseHead(z *pack.Inflater) (object.Kind, int64, error) {
	if err := z.Start(); err != nil {
		return 0, 0, err
	}
	head := make([]byte, 0, maxLooseHead)
	for len(head) < maxLooseHead {
		n, err := z.Read(head[len(head) : len(head)+1])
		head = head[:len(head)+n]
		if n > 0 && head[len(head)-1] == 0 {
			return parseLooseHead(head[:len(head)-1])
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return 0, 0, pack.Corrupt("loose object without a header")
}

func parseLooseHead(head []byte) (object.Kind, int64, error) {
	name, digits, _ := bytes.Cut(head, []byte(" "))
	kind, err := object.ParseKind(string(name))
	if err != nil {
		return 0, 0, pack.Corrupt("loose object of kind %q", name)
	}
	size, err := strconv.ParseUint(string(digits), 10, 63)
	if err != nil || len(digits) > 1 && digits[0] == '0' {
		return 0, 0, pack.Corrupt("loose object of size %q", digits)
	}
	return kind, int64(size), nil
}

// Check reads the header.
func (o Loose) Check() error {
	_, _, err := o.Stat()
	return err
}

// Stat returns kind and size, read from the header.
func (o Loose) Stat() (object.Kind, int64, error) {
	r, err := o.start()
	if err != nil {
		return 0, 0, err
	}
	defer r.close()
	return r.kind, r.size, nil
}

// Read returns kind and contents. It does not compare them with the id.
func (o Loose) Read() (object.Kind, []byte, error) {
	r, err := o.start()
	if err != nil {
		return 0, nil, err
	}
	defer r.close()
	content, err := r.Contents(r.size)
	return r.kind, content, o.Wrap(err)
}

// Open returns a reader of the contents, which ends with an error if they are not those of id.
func (o Loose) Open(id object.ID) (object.Kind, int64, io.ReadCloser, error) {
	r, err := o.start()
	if err != nil {
		return 0, 0, nil, err
	}
	if err := r.Plausible(r.size); err != nil {
		r.close()
		return 0, 0, nil, o.Wrap(err)
	}
	if r.size <= pack.InMemory {
		r.close()
		return pack.OpenRead(o, id)
	}
	return r.kind, r.size, pack.NewStream(r.file, r.Inflater, id, o.Path, r.kind, r.size), nil
}

// looseDirs tells which of the 256 directories of loose objects exist. It may miss a directory
// that was made within the same tick of the clock as an earlier one. An object in it is stored
// twice then.
func (db *DB) looseDirs() [256]bool {
	info, err := os.Stat(db.path("objects"))
	if err != nil {
		return [256]bool{}
	}
	if known := db.looseList.Load(); known != nil && known.mtime.Equal(info.ModTime()) {
		return known.present
	}
	known := &looseList{info.ModTime(), db.listLooseDirs()}
	db.looseList.Store(known)
	return known.present
}

// looseList is the list of the directories of loose objects.
type looseList struct {
	mtime   time.Time // of the directory objects, before it was listed
	present [256]bool
}

// listLooseDirs lists the directories of loose objects.
func (db *DB) listLooseDirs() (present [256]bool) {
	names, _ := readNames(db.path("objects"))
	for _, name := range names {
		if b, err := strconv.ParseUint(name, 16, 8); err == nil && len(name) == 2 {
			present[b] = true
		}
	}
	return present
}

// loosePrefix calls yield with the loose objects whose ids begin with prefix, at least two
// hexadecimal digits.
func (db *DB) loosePrefix(prefix string, yield func(object.ID)) error {
	names, err := readNames(db.path("objects", prefix[:2]))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range names {
		id, err := object.ParseID(prefix[:2] + name)
		if err == nil && filepath.Base(name) == name && id.String()[:len(prefix)] == prefix {
			yield(id)
		}
	}
	return nil
}

// LooseObjects lists the loose objects: each is a file of its own.
func (db *DB) LooseObjects() ([]object.ID, error) {
	var ids []object.ID
	for b, present := range db.listLooseDirs() {
		if !present {
			continue
		}
		prefix := object.ID{byte(b)}.String()[:2]
		err := db.loosePrefix(prefix, func(id object.ID) { ids = append(ids, id) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return ids, nil
}

// Size returns the size of the file, 0 if it is absent.
func (o Loose) Size() int64 {
	info, err := os.Lstat(o.Path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// ObjectDirs returns the directories in which git writes objects and packs: objects,
// objects/pack and the directories of loose objects.
func (db *DB) ObjectDirs() []string {
	dirs := []string{db.path("objects"), db.path(packDir)}
	for b, present := range db.listLooseDirs() {
		if present {
			dirs = append(dirs, db.path("objects", fmt.Sprintf("%02x", b)))
		}
	}
	return dirs
}

// looseAtLeast is the number of blobs from which on linking loose objects is worth its wait for the
// disk. Fewer files are read in less time.
const looseAtLeast = 1000

// BorrowLoose links the loose blobs of other repositories into the store: those of ids whose sizes
// are below 0. want tells the size that one of them has to have, below 0 for none, and sizes gets the size of each
// that was linked. most bounds the bytes of the linked files together, 0 = no limit. A blob that
// cannot be linked keeps its size below 0.
//
// As with Borrow, call it with the lock held; reads verify the contents. A crash leaves objects that
// nothing refers to.
func (db *DB) BorrowLoose(objectDirs []string, ids []object.ID, want func(i int) int64, sizes []int64, most int64) (linked int, err error) {
	var left []int32
	for i := range ids {
		if sizes[i] < 0 && want(i) >= 0 {
			left = append(left, int32(i))
		}
	}
	if len(left) < looseAtLeast {
		return 0, nil
	}
	sortByID(left, ids)
	wants := make([]loan.Want, 0, len(left))
	for _, i := range left {
		if n := len(wants); n == 0 || wants[n-1].ID != ids[i] {
			wants = append(wants, loan.Want{ID: ids[i], Size: want(int(i))})
		}
	}
	linked, err = loan.Take(objectDirs, db.path("objects"), wants, loan.Options{Head: headOf, Most: most, Sync: !db.opt.NoSync})
	at := 0
	for _, i := range left {
		for wants[at].ID != ids[i] {
			at++
		}
		if wants[at].Taken {
			sizes[i] = wants[at].Size
		}
	}
	return linked, err
}

// SharedLoose reports whether a loose object has a name outside of this store, at a lender.
func (db *DB) SharedLoose(id object.ID) bool { return lentOut(db.Loose(id).Path) }

// isLoose reports whether a path in a store is that of a loose object.
func isLoose(path string) bool {
	dir, name := filepath.Split(path)
	_, err := object.ParseID(filepath.Base(dir) + name)
	return err == nil && filepath.Base(filepath.Dir(filepath.Clean(dir))) == "objects"
}
