package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// ErrOvertaken is the answer of Install when base and delta are not those any more
// that the new base takes the place of.
var ErrOvertaken = errors.New("the stat cache was saved by somebody else meanwhile")

// Aside is a base that is written while the old one and its delta are in use and the
// delta grows on. It holds one state of an index; what was appended after that is
// carried over to a new delta when the base is put in place.
type Aside struct {
	file File
	rec  record
	id   uint64
	size int64

	base uint64 // what the state extends
	at   int64  // how much of the delta is part of it
	sum  uint32 // of the last record of that

	temp *os.File // nil before Write
	old  []*os.File
}

// Aside returns a base to be: of the state that x has, which has been saved to f. The
// blocks are shared, not copied.
func (x *Index) Aside(f File) *Aside {
	rec := x.all()
	rec.summary = x.summary.clone()
	return &Aside{file: f, rec: rec, id: newBaseID(), base: x.base, at: x.tailLen, sum: x.tailSum}
}

// Write writes the base under a temporary name, and with sync flushes it: a file
// that is renamed over another is flushed by some file systems there and then, when
// somebody waits for it. It needs no lock, and ends early when ctx does.
func (a *Aside) Write(ctx context.Context, sync bool) (err error) {
	if a.temp, err = atomicfile.Create(filepath.Dir(a.file.Base), atomicfile.Prefix); err != nil {
		return fmt.Errorf("write %s: %w", a.file.Base, err)
	}
	w := &asideWriter{ctx: ctx, file: a.temp, sync: sync}
	a.size, err = writeBase(w, a.id, &a.rec)
	a.rec = record{}
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", a.file.Base, err)
	}
	return nil
}

// asideWriter flushes now and then, so that others who flush, and may have to wait for
// what we have written, never wait long.
type asideWriter struct {
	ctx   context.Context
	file  *os.File
	sync  bool
	dirty int // bytes
}

// flushEvery is what a slow disk takes some hundredths of a second for.
const flushEvery = 4 << 20

func (w *asideWriter) Write(p []byte) (n int, err error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err = w.file.Write(p)
	if w.dirty += n; err == nil && w.dirty >= flushEvery {
		err = w.flush()
	}
	return n, err
}

func (w *asideWriter) flush() error {
	w.dirty = 0
	if !w.sync {
		return nil
	}
	return w.file.Sync()
}

// Install puts what Write wrote in the place of the old base, and what x has appended
// since in that of the old delta. x is what Aside was called on, or goes on from it,
// and nobody else may save meanwhile. After an error base and delta are as before, or
// the next save writes all anew.
//
// A crash between the two leaves the state that Aside saw: older, but consistent.
func (a *Aside) Install(x *Index) error {
	if x.base != a.base || x.tailLen < a.at {
		return ErrOvertaken
	}
	a.hold()
	if err := a.undisturbed(x); err != nil {
		return err
	}
	delta, sum, err := a.carry(x)
	if err != nil {
		return err
	}
	var tail *os.File
	if delta != nil {
		if tail, err = a.writeDelta(delta); err != nil {
			return err
		}
		defer dispose(tail)
	}
	if err := moveTo(a.temp, a.file.Base); err != nil {
		return err
	}
	x.setBase(a.id, a.size)
	if tail == nil {
		os.Remove(a.file.Delta) // see rewrite
		return nil
	}
	if err := moveTo(tail, a.file.Delta); err != nil {
		x.base, x.private = 0, true // what was carried is in memory only
		return err
	}
	x.tailLen, x.tailSum = int64(len(delta)), sum
	return nil
}

// hold keeps the files open that are about to go, so that Close frees their room and
// not the rename. Windows refuses to rename over open files.
func (a *Aside) hold() {
	if runtime.GOOS == "windows" {
		return
	}
	for _, path := range []string{a.file.Base, a.file.Delta} {
		if f, err := atomicfile.Open(path); err == nil {
			a.old = append(a.old, f)
		}
	}
}

// undisturbed compares the files with what x knows of them.
func (a *Aside) undisturbed(x *Index) error {
	base, _, err := readHeader(a.file.Base, baseMagic)
	if err != nil || base != a.base {
		return errors.Join(err, ErrOvertaken)
	}
	base, size, err := readHeader(a.file.Delta, deltaMagic)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil || size != x.tailLen || size > 0 && base != a.base {
		return errors.Join(err, ErrOvertaken)
	}
	return nil
}

// readHeader returns the id that a base or delta begins with, and its size.
func readHeader(path, magic string) (base uint64, size int64, err error) {
	file, err := atomicfile.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, 0, err
	}
	var head [headerLen]byte
	if _, err := io.ReadFull(file, head[:]); err != nil || string(head[:len(magic)]) != magic {
		return 0, info.Size(), nil
	}
	return binary.LittleEndian.Uint64(head[len(magic):]), info.Size(), nil
}

// carry returns the delta of the new base: the records behind those that are part of
// it, each with the checksum that it has in the new order.
func (a *Aside) carry(x *Index) (delta []byte, sum uint32, err error) {
	size := x.tailLen - max(a.at, headerLen)
	if size <= 0 {
		return nil, 0, nil
	}
	rest, err := readRange(a.file.Delta, x.tailLen-size, size)
	if err != nil {
		return nil, 0, err
	}
	delta = appendDeltaHeader(make([]byte, 0, headerLen+len(rest)), a.id)
	was, sum := a.sum, uint32(a.id)
	for len(rest) > 0 {
		rec, next, ok := nextRecord(rest, was)
		if !ok {
			return nil, 0, ErrOvertaken
		}
		was, rest = next, rest[frameLen+len(rec):]
		sum = crc32.Update(sum, crcTable, rec)
		delta = binary.LittleEndian.AppendUint32(delta, uint32(len(rec)))
		delta = append(binary.LittleEndian.AppendUint32(delta, sum), rec...)
	}
	if was != x.tailSum {
		return nil, 0, ErrOvertaken
	}
	return delta, sum, nil
}

// readRange reads size bytes of a file from an offset on.
func readRange(path string, at, size int64) ([]byte, error) {
	file, err := atomicfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(file, at, size), data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

func (a *Aside) writeDelta(delta []byte) (*os.File, error) {
	f, err := atomicfile.Create(filepath.Dir(a.file.Delta), atomicfile.Prefix)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", a.file.Delta, err)
	}
	if _, err := f.Write(delta); err != nil {
		dispose(f)
		return nil, fmt.Errorf("write %s: %w", a.file.Delta, err)
	}
	return f, nil
}

// moveTo closes a temporary file, for Windows, and gives it its name.
func moveTo(temp *os.File, path string) error {
	err := temp.Close()
	if err == nil {
		err = atomicfile.Rename(temp.Name(), path)
	}
	if err != nil {
		os.Remove(temp.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// dispose removes a temporary file, unless moveTo has closed it.
func dispose(temp *os.File) {
	if temp.Close() == nil {
		os.Remove(temp.Name())
	}
}

// Close removes what was not put in place. It needs no lock.
func (a *Aside) Close() {
	if a.temp != nil {
		dispose(a.temp)
	}
	for _, f := range a.old {
		f.Close()
	}
	a.temp, a.old = nil, nil
}
