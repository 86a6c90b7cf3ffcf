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
// Call it with the lock held; unlocking fails afterwards, and on Windows so does
// Remove while files of the store are open elsewhere.
func (db *DB) Remove() error {
	parent := filepath.Dir(db.dir)
	claim, err := atomicfile.Create(parent, atomicfile.Prefix)
	if err != nil {
		return fmt.Errorf("remove store %s: %w", db.dir, err)
	}
	aside := claim.Name() + asideSuffix
	if err = db.Close(); err == nil {
		err = atomicfile.Rename(db.dir, aside)
	}
	if err == nil {
		err = os.RemoveAll(aside)
	}
	if err = errors.Join(err, unclaim(claim)); err != nil {
		return fmt.Errorf("remove store %s: %w", db.dir, err)
	}
	return nil
}

// Move makes a store that of another root, and moves it to the directory to, where
// nothing may be. Both lie in the same directory. A move that was interrupted is
// finished by the same call. The stat cache is left behind.
func Move(ctx context.Context, dir, to, root string, opt Options) error {
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
