package usergit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ErrMoved: another process has changed HEAD or the index meanwhile.
var ErrMoved = errors.New("another process works in the repository")

// IndexFile is the user's index as bytes. Without a file there is none.
type IndexFile struct {
	there bool
	data  []byte
	info  fs.FileMode
	mtime time.Time // git compares it with the times of the files
}

func (r *Repo) indexPath() string { return filepath.Join(r.GitDir, "index") }

func readIndex(path string) (f IndexFile, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	f.there, f.info, f.mtime = true, info.Mode().Perm(), info.ModTime()
	f.data, err = os.ReadFile(path)
	return f, err
}

func (f *IndexFile) same(other *IndexFile) bool {
	return f.there == other.there && bytes.Equal(f.data, other.data)
}

// copyTo writes the index to another place, with its time: a later one would make git trust times
// of files that it must not trust.
func (f *IndexFile) copyTo(path string) error {
	if !f.there {
		return nil
	}
	if err := os.WriteFile(path, f.data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(path, f.mtime, f.mtime)
}

// replaceIndex gives the user's index other contents, unless another process has changed it. It
// holds the lock that git holds.
func (r *Repo) replaceIndex(from, to *IndexFile) (err error) {
	if from.same(to) {
		return nil
	}
	lock, err := os.OpenFile(r.indexPath()+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s.lock exists: git is at work, or died there; remove the file if no git runs", r.indexPath())
	}
	if err != nil {
		return err
	}
	name := lock.Name()
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Close(), os.Remove(name))
		}
	}()
	now, err := readIndex(r.indexPath())
	if err != nil {
		return err
	}
	if !now.same(from) {
		return fmt.Errorf("%w: the index has changed", ErrMoved)
	}
	if !to.there {
		return errors.Join(lock.Close(), os.Remove(r.indexPath()), os.Remove(name))
	}
	if _, err := lock.Write(to.data); err != nil {
		return err
	}
	return r.publishIndex(lock, &now, to)
}

// publishIndex puts a written lock in the place of the index, with its permission bits.
func (r *Repo) publishIndex(lock *os.File, now, to *IndexFile) error {
	if now.there {
		if err := lock.Chmod(now.info); err != nil {
			return err
		}
	}
	if err := lock.Close(); err != nil {
		return err
	}
	if err := os.Chtimes(lock.Name(), to.mtime, to.mtime); err != nil {
		return err
	}
	return os.Rename(lock.Name(), r.indexPath())
}

// staged makes of an index one with other entries. The user's index stays as it is.
func (s *Scratch) staged(ctx context.Context, from *IndexFile, changed map[string]Entry) (IndexFile, error) {
	if len(changed) == 0 {
		return *from, nil
	}
	path := filepath.Join(s.dir, stagedFile)
	if err := errors.Join(os.RemoveAll(path), from.copyTo(path)); err != nil {
		return IndexFile{}, err
	}
	if err := s.setEntries(ctx, path, changed); err != nil {
		return IndexFile{}, err
	}
	return readIndex(path)
}

// setEntries sets entries of an index.
func (s *Scratch) setEntries(ctx context.Context, index string, changed map[string]Entry, config ...string) error {
	if len(changed) == 0 {
		return nil
	}
	args := append(slices.Clip(config), "update-index", "-z", "--index-info")
	_, err := s.repo.output(ctx, call{args: args, env: []string{indexFile + index}, stdin: strings.NewReader(records(changed, s.idLength))})
	return err
}
