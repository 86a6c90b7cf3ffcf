package redo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Store is the store that a log belongs to.
type Store interface {
	// RefValue returns the value of a ref, zero if there is none, and an error if it is
	// unreadable.
	RefValue(name string) (object.ID, error)
	// ReplaceRef sets a ref without the log. A zero id removes it, and a ref that is absent
	// by then is no error.
	ReplaceRef(name string, id object.ID) error
	// RefPath returns the path of the file of a ref, below RefPath("refs").
	RefPath(name string) string
	// CheckRecord fails for a record that no publish writes: a name is invalid, or half of a
	// pack is missing.
	CheckRecord(r *Record) error
	// CheckPack fails unless the contents of a pack and its index fit the name.
	CheckPack(r *Record) error
	// PacksChanged is called when replay has written packs.
	PacksChanged() error
}

// Token names a boot of a machine and a mount.
type Token [tokenSize]byte

const tokenSize = 16

// Log is the write-ahead log of one store, as one process sees it.
type Log struct {
	store Store
	path  string // of the file
	packs string // the directory of the packs
	token func() (Token, bool)

	mu  sync.Mutex // held while a Writer exists
	end end        // as the last Writer of this Log left it
}

// New returns the log at path of a store with packs in a directory. token returns the present
// token. It returns false where no log is kept.
func New(store Store, path, packs string, token func() (Token, bool)) *Log {
	return &Log{store: store, path: path, packs: packs, token: token}
}

// Kept reports whether a log can be kept here.
func (l *Log) Kept() bool {
	_, ok := l.token()
	return ok
}

// Writer is the log while it is locked: no other goroutine or process writes to it.
type Writer struct {
	log  *Log
	file *os.File // carries the lock
	size int64    // how long the log may become
	end  end
}

// Lock locks the log and returns nil where there is none. If another process has written to the
// log, Lock replays or flushes it where that is necessary: afterwards every record in it is of
// this boot and carried out.
func (l *Log) Lock() (w *Writer, err error) {
	l.mu.Lock()
	defer func() {
		if w == nil {
			l.mu.Unlock()
		}
	}()
	w, err = l.open()
	if err != nil || w == nil {
		return nil, err
	}
	if w.endsAt(l.end) {
		w.end = l.end
		return w, nil
	}
	if err := w.check(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", l.path, err), w.file.Close())
	}
	return w, nil
}

// open opens and locks the file. It opens again if the file was removed meanwhile.
func (l *Log) open() (*Writer, error) {
	for {
		f, err := atomicfile.OpenForUpdate(l.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("open redo log: %w", err)
		}
		w := &Writer{log: l, file: f}
		there, err := w.lock()
		if there && err == nil {
			return w, nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("open redo log: %w", err)
		}
	}
}

// lock waits for the lock of the open file, and reports whether the file is still the log. On a
// system without such a lock no process appends, and two processes may replay at a time a log
// that came from another machine.
func (w *Writer) lock() (there bool, err error) {
	if err := atomicfile.Lock(w.file); err != nil {
		return false, err
	}
	opened, err := w.file.Stat()
	if err != nil {
		return false, err
	}
	w.size = min(max(opened.Size(), FileSize), maxFileSize)
	return atomicfile.StillAt(w.file.Name(), opened)
}

// Unlock unlocks the log. The log remembers its end, so that the next Lock of this process does
// not read it. A nil Writer is unlocked already.
func (w *Writer) Unlock() {
	if w == nil {
		return
	}
	w.log.end = w.end
	w.file.Close()
	w.log.mu.Unlock()
}

// Make makes the log where one is kept and none is there. allow is asked for its bytes first, and
// with a negative number if it has refused them; it may be nil. Without a log the store works, so
// Make returns no error.
func (l *Log) Make(allow func(int64) error) {
	if !l.Kept() || exists(l.path) {
		return
	}
	if allow != nil && allow(FileSize) != nil {
		_ = allow(-FileSize) // the publish does without
		return
	}
	if temp, err := atomicfile.Create(filepath.Dir(l.path), atomicfile.Prefix); err == nil {
		_ = l.write(temp)
		atomicfile.Discard(temp)
	}
}

// write writes the blocks of a new log, so that later appends find them on the disk. It names the
// file unless there is a log by now, which may have records.
func (l *Log) write(temp *os.File) error {
	_, err := temp.Write(make([]byte, FileSize))
	if err == nil {
		err = temp.Sync()
	}
	if err == nil {
		err = os.Link(temp.Name(), l.path)
	}
	return err
}

// Drop flushes the files that the log names and removes it, with the copies of objects in it.
func (l *Log) Drop() error {
	w, err := l.Lock()
	if w == nil {
		return err
	}
	defer w.Unlock()
	if err := w.Flush(); err != nil {
		return err
	}
	w.end = end{}
	return os.Remove(l.path)
}

// Stale reports whether the log has records of another token. The first record tells: no process
// appends to such a log before it is replayed.
func (l *Log) Stale() bool {
	f, err := atomicfile.Open(l.path)
	if err != nil {
		return false
	}
	defer f.Close()
	w := &Writer{log: l, file: f, size: maxFileSize}
	salt, err := w.head()
	if err != nil {
		return false
	}
	body, _ := w.record(start(salt))
	if body == nil {
		return false
	}
	token, ok := l.token()
	return !ok || !bytes.HasPrefix(body, token[:])
}

// The extensions of the files of a pack, as git names them.
const (
	packExt  = ".pack"
	indexExt = ".idx"
)

// stem returns the path of the pack of a record, without an extension.
func (l *Log) stem(r *Record) string { return filepath.Join(l.packs, r.Name) }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
