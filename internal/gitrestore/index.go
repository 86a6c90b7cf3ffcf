package gitrestore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// indexLock is git's own lock of the index: the file that becomes the index. It is a second name of a
// temporary file, so that a lock that was left behind is known as ours. A nil lock holds nothing.
type indexLock struct {
	path, temp string
	empty      bool // the record has no index
	held       bool
}

// lockIndex writes the index of the plan and takes the lock. Another program that is writing the index
// keeps it.
func (r *run) lockIndex() (*indexLock, error) {
	if !r.Index {
		return nil, nil
	}
	files, err := r.indexFiles(filepath.Join(r.dir, "index"))
	if err != nil {
		return nil, err
	}
	data := files["index"]
	l := &indexLock{path: filepath.Join(r.dir, "index"), empty: len(data) == 0}
	l.temp = filepath.Join(r.dir, r.temp("index"))
	if r.Resume {
		l.clear()
	}
	for name, data := range files {
		if name != "index" {
			if err := writeFile(filepath.Join(r.dir, name), data); err != nil {
				return nil, err
			}
		}
	}
	if err := errors.Join(writeFile(l.temp, data), r.backdate(l.temp, files)); err != nil {
		os.Remove(l.temp)
		return nil, err
	}
	err = os.Link(l.temp, l.path+".lock")
	if err != nil && !errors.Is(err, fs.ErrExist) { // no links here
		if err = writeNew(l.path+".lock", data); err == nil {
			_ = r.backdate(l.path+".lock", files) // the lock is taken
		}
	}
	if err != nil {
		os.Remove(l.temp)
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%w: another git is running: %s.lock exists", ErrRefused, l.path)
		}
		return nil, err
	}
	l.held = true
	return l, nil
}

// clear removes what a process that was killed has left: the temporary file, and the lock if it is
// that file, or a copy of its beginning.
func (l *indexLock) clear() {
	data, err := os.ReadFile(l.temp)
	if err != nil {
		return
	}
	if lock, err := os.ReadFile(l.path + ".lock"); err == nil && bytes.HasPrefix(data, lock) {
		os.Remove(l.path + ".lock")
	}
	os.Remove(l.temp)
}

func writeFile(path string, data []byte) error {
	return write(path, data, os.O_TRUNC)
}

func writeNew(path string, data []byte) error {
	return write(path, data, os.O_EXCL)
}

func write(path string, data []byte, flag int) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// commit gives the file its name. A record without an index leaves none.
func (l *indexLock) commit() error {
	if l == nil {
		return nil
	}
	if l.empty {
		if err := os.Remove(l.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	err := os.Rename(l.path+".lock", l.path)
	l.held = err != nil
	return err
}

// release removes the lock, unless it has become the index.
func (l *indexLock) release() {
	if l == nil {
		return
	}
	if l.held {
		os.Remove(l.path + ".lock")
	}
	os.Remove(l.temp)
}
