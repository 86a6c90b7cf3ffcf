package odb

import (
	"os"
	"sync"
	"sync/atomic"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// spares are temporary files that were made before anybody waits for them. To make one
// may take longer than all that is done with it: ext4 without a journal does not use an
// inode again that was freed within the last minute, and goes through these one by one.
//
// They are claimed, like any temporary file. A git that prunes removes them all the same,
// so they are looked for when they are taken.
type spares struct {
	mu     sync.Mutex // held by who makes them, too, so that taking one waits for that
	files  map[spareKind][]*os.File
	closed bool
	keep   atomic.Bool    // between publishes
	busy   sync.WaitGroup // whoever makes and removes some

	doneWith sync.Mutex
	trash    []string // temporary files that nobody needs
}

type spareKind struct{ dir, prefix string }

// A pack and its index, and the two refs of a checkpoint.
const sparesOfEach = 2

// KeepSpares begins to make the temporary files that the next publish needs, and keeps
// what is left of them until Close.
func (db *DB) KeepSpares() { db.makeSpares(true) }

func (db *DB) makeSpares(keep bool) {
	if !db.spares.mu.TryLock() {
		return // somebody is at it
	}
	db.spares.keep.Store(keep || db.spares.keep.Load())
	wanted := make(map[spareKind]int)
	wanted[spareKind{db.path(packDir), tempPrefix}] += sparesOfEach
	wanted[spareKind{db.path(privateDir), atomicfile.Prefix}] += sparesOfEach
	if db.spares.closed || db.spares.have(wanted) {
		db.spares.mu.Unlock()
		return
	}
	db.spares.busy.Go(func() {
		db.spares.make(wanted)
		db.spares.mu.Unlock()
		db.spares.sweep()
	})
}

func (s *spares) have(wanted map[spareKind]int) bool {
	for k, n := range wanted {
		if len(s.files[k]) < n {
			return false
		}
	}
	return true
}

// make makes what is missing. What fails is left to who needs it.
func (s *spares) make(wanted map[spareKind]int) {
	if s.files == nil {
		s.files = make(map[spareKind][]*os.File)
	}
	for k, n := range wanted {
		for len(s.files[k]) < n {
			f, err := atomicfile.Create(k.dir, k.prefix)
			if err != nil {
				break
			}
			s.files[k] = append(s.files[k], f)
		}
	}
}

// take returns an empty temporary file, a spare one if there is any.
func (s *spares) take(dir, prefix string) (*os.File, error) {
	for f := s.pop(dir, prefix); f != nil; f = s.pop(dir, prefix) {
		if hasName(f) {
			return f, nil
		}
		f.Close()
	}
	return atomicfile.Create(dir, prefix)
}

// write returns a temporary file that holds data.
func (s *spares) write(dir, prefix string, data []byte) (*os.File, error) {
	f, err := s.take(dir, prefix)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(data); err != nil {
		dispose(f)
		return nil, err
	}
	return f, nil
}

func (s *spares) pop(dir, prefix string) *os.File {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := spareKind{dir, prefix}
	last := len(s.files[k]) - 1
	if last < 0 {
		return nil
	}
	f := s.files[k][last]
	s.files[k] = s.files[k][:last]
	return f
}

// hasName reports whether a file is still where it was made.
func hasName(f *os.File) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(opened, named)
}

// remove removes a temporary file, later if spares are kept: then the next that are made
// are waited for by nobody. Should the process die before, Sweep does it.
func (s *spares) remove(path string) {
	if !s.keep.Load() {
		os.Remove(path)
		return
	}
	s.doneWith.Lock()
	defer s.doneWith.Unlock()
	s.trash = append(s.trash, path)
}

// sweep removes what is to be removed later.
func (s *spares) sweep() {
	s.doneWith.Lock()
	trash := s.trash
	s.trash = nil
	s.doneWith.Unlock()
	for _, path := range trash {
		os.Remove(path)
	}
}

// close removes the spares. No more are made.
func (s *spares) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.keep.Store(false)
	s.busy.Wait()
	s.drop()
	s.sweep()
}

// drop removes the spares, unless they are to be kept.
func (s *spares) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keep.Load() {
		return
	}
	for _, files := range s.files {
		for _, f := range files {
			if hasName(f) {
				dispose(f)
			} else {
				f.Close()
			}
		}
	}
	s.files = nil
}
