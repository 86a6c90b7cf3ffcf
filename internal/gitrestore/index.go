package gitrestore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
)

// indexLock is git's own lock of the index: the file that becomes the index.
type indexLock struct {
	path string
	file *os.File
}

// lockIndex takes the lock. Another program that is writing the index keeps it.
func lockIndex(gitDir string) (*indexLock, error) {
	l := &indexLock{path: filepath.Join(gitDir, "index")}
	var err error
	l.file, err = os.OpenFile(l.path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w: another git is running: %s.lock exists", ErrRefused, l.path)
	}
	return l, err
}

// fill writes the index of the record, if the present one is as the plan says.
func (l *indexLock) fill(target, now *gitstate.Record, fresh bool) error {
	data, err := os.ReadFile(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !fresh && !bytes.Equal(data, now.Files["index"]) {
		return fmt.Errorf("%w: the index has changed meanwhile", ErrRefused)
	}
	for name, data := range target.Files {
		if isIndex(name) && name != "index" {
			if err := os.WriteFile(filepath.Join(filepath.Dir(l.path), name), data, 0o666); err != nil {
				return err
			}
		}
	}
	_, err = l.file.Write(target.Files["index"])
	return errors.Join(err, l.file.Sync())
}

// commit gives the file its name. A record without an index leaves none.
func (l *indexLock) commit() error {
	info, err := l.file.Stat()
	if err = errors.Join(err, l.file.Close()); err != nil {
		return err
	}
	l.file = nil
	if info.Size() == 0 {
		return errors.Join(os.Remove(l.path), os.Remove(l.path+".lock"))
	}
	return os.Rename(l.path+".lock", l.path)
}

func (l *indexLock) release() {
	if l.file != nil {
		l.file.Close()
		os.Remove(l.path + ".lock")
	}
}
