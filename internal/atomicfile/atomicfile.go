// Package atomicfile replaces files in one step and tells the temporary files of running processes
// from those of dead ones.
//
// [Write] makes the new contents in a temporary file beside the target and renames it: a reader of
// the target sees the old bytes or the new ones, never a mixture. That is atomicity, not
// durability: only with sync on do the new bytes, and then the new name, survive a loss of power.
//
// A temporary file is claimed by its writer with a kernel lock that dies with the
// process (on Windows, by the open handle). [Sweep] therefore knows what a crash
// left behind without looking at ages or process ids, in other containers too.
// Where the system or the file system has no such locks nothing is ever swept.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Prefix begins the name of every temporary file that Write makes.
const Prefix = ".tmp_cairn_"

// Write replaces the file at path by what write produces, with exactly the
// permissions perm. The writer handed to write is the temporary file. On any error the
// target is as it was and the temporary file is gone.
//
// With sync, the contents are flushed before the rename and the directory after
// it. If only that last flush fails, the new file is in place and the error says
// that it may not be durable.
func Write(path string, perm os.FileMode, sync bool, write func(io.Writer) error) error {
	f, err := Create(filepath.Dir(path), Prefix)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	err = fill(f, perm, sync, write)
	// Closed before the rename: Windows cannot rename an open file, and network
	// file systems report the failure of a delayed write here. It stays claimed until
	// it has its name: others may be sweeping.
	release := keepClaim(f)
	defer release()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	if sync {
		return SyncDir(filepath.Dir(path))
	}
	return nil
}

func fill(f *os.File, perm os.FileMode, sync bool, write func(io.Writer) error) error {
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(perm); err != nil {
		return err
	}
	if sync {
		return f.Sync()
	}
	return nil
}

// Create makes a new file in dir, named prefix and random digits, open for reading
// and writing, with permissions 0600. It counts as alive until it is closed; the
// caller renames or removes it.
func Create(dir, prefix string) (*os.File, error) {
	for range 1000 {
		name := filepath.Join(dir, fmt.Sprintf("%s%016x", prefix, rand.Uint64()))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if claim(f) {
			return f, nil
		}
		// A sweeper saw the file in the instant before it was claimed, and has
		// removed it or is about to.
		f.Close()
	}
	return nil, fmt.Errorf("create %s: no free name", filepath.Join(dir, prefix+"*"))
}

// RemoveClaimed removes a file made by Create, and before it the other names that it has
// got. They are claimed until they are gone, but on Windows, where an open file cannot be
// removed: others may be faster there.
func RemoveClaimed(f *os.File, names ...string) error {
	var err error
	if runtime.GOOS == "windows" {
		err = f.Close()
	}
	for _, name := range names {
		err = errors.Join(err, RemoveIfThere(name))
	}
	if runtime.GOOS != "windows" {
		err = errors.Join(err, f.Close())
	}
	return errors.Join(err, RemoveIfThere(f.Name()))
}

// RemoveIfThere is os.Remove to which a missing file is no error.
func RemoveIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Sweep removes the files in dir whose names begin with prefix and whose writers
// are dead. A directory that does not exist holds none.
func Sweep(dir, prefix string) error {
	d, err := OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			_, rerr := RemoveDead(filepath.Join(dir, name))
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// RemoveDead removes a file made by Create if its writer is dead, and reports
// whether there is no such file now. Anything but a regular file counts as alive.
func RemoveDead(path string) (gone bool, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	return removeDead(path)
}
