package odb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// Used returns when somebody last had the lock of a store.
func Used(dir string) (time.Time, error) {
	info, err := os.Stat(filepath.Join(dir, holderFile))
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(dir) // nobody ever had it
	}
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// List returns the paths of the directories below parent that are or should be
// stores. What is being made or removed is none. A parent that does not exist has
// none.
func List(parent string) ([]string, error) {
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), atomicfile.Prefix) {
			dirs = append(dirs, filepath.Join(parent, e.Name()))
		}
	}
	return dirs, err
}

// Remove removes a store for good: it is renamed aside first, so that half a store
// never counts as one. What a crash leaves aside, the next Create beside it removes.
// Call it with the lock held; it gives that up by unlock. On Windows a store in which
// somebody has a file open stays, with an error.
func (db *DB) Remove(unlock func() error) error {
	parent := filepath.Dir(db.dir)
	claim, err := atomicfile.Create(parent, atomicfile.Prefix)
	if err != nil {
		return fmt.Errorf("remove store %s: %w", db.dir, errors.Join(err, unlock()))
	}
	aside := claim.Name() + AsideSuffix
	if err = db.moveAside(aside, unlock); err == nil {
		err = os.RemoveAll(aside)
	}
	if err = errors.Join(err, atomicfile.RemoveClaimed(claim)); err != nil {
		return fmt.Errorf("remove store %s: %w", db.dir, err)
	}
	return nil
}

// moveAside closes the store and moves it. On Windows the lock is one of the open files
// that keep a directory from being moved: whoever had it in between is told by the
// record, and gets his store back.
func (db *DB) moveAside(aside string, unlock func() error) error {
	if !onWindows {
		err := db.Close()
		if err == nil {
			err = atomicfile.Rename(db.dir, aside)
		}
		_ = unlock() // of a lock that is gone
		return err
	}
	if err := errors.Join(unlock(), db.Close()); err != nil {
		return err
	}
	if err := atomicfile.Rename(db.dir, aside); err != nil {
		return err
	}
	if record, err := atomicfile.Read(filepath.Join(aside, holderFile)); err == nil && decodeNote(record) == db.note {
		return nil
	}
	return errors.Join(fmt.Errorf("%w: somebody has used it meanwhile", ErrLocked), atomicfile.Rename(aside, db.dir))
}

// Move makes a store that of another root, and moves it to the directory to, where
// nothing may be. Both lie in the same directory. A move that was interrupted is
// finished by the same call. The stat cache is left behind.
func Move(ctx context.Context, dir, to, root string, opt Options) error {
	opt.moving = true
	db, err := Open(dir, "", opt)
	if err != nil {
		return err
	}
	defer db.Close()
	unlock, err := db.Lock(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("move store %s: %s: %w", dir, to, fs.ErrExist), unlock())
	}
	os.Remove(db.PrivatePath("index"))
	os.Remove(db.PrivatePath("index.delta"))
	err = writeFile(db.path(rootFile), []byte(root), !opt.NoSync)
	if err = errors.Join(err, unlock(), db.Close()); err == nil {
		err = atomicfile.Rename(dir, to)
	}
	if err == nil && !opt.NoSync {
		err = atomicfile.SyncDir(filepath.Dir(to))
	}
	if err != nil {
		return fmt.Errorf("move store %s: %w", dir, err)
	}
	return nil
}
