package keep

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// readsFrom makes git in the vault read the objects of another object directory, too, which is named
// from the vault's own: the store may be moved. "" = it reads none. It returns the file that is to be
// flushed with its directory, "" for none.
func (v *Vault) readsFrom(dir string) (made string, err error) {
	file := v.path("objects", "info", "alternates")
	if dir == "" {
		return "", atomicfile.RemoveIfThere(file)
	}
	rel, err := filepath.Rel(v.path("objects"), dir)
	if err != nil {
		return "", err
	}
	text := []byte(filepath.ToSlash(rel) + "\n")
	if now, err := atomicfile.Read(file); err == nil && bytes.Equal(now, text) {
		return "", nil
	}
	return file, writeFile(file, text)
}

// flush flushes the names of packs, and a file with its name, all at the same time.
func (v *Vault) flush(packs bool, made string) error {
	if !v.sync {
		return nil
	}
	var waits []func() error
	if packs {
		waits = append(waits, func() error { return atomicfile.SyncDir(v.path("objects", "pack")) })
	}
	if made != "" {
		waits = append(waits, func() error { return atomicfile.SyncFile(made) }, func() error { return atomicfile.SyncDir(filepath.Dir(made)) })
	}
	return atomicfile.AtOnce(waits, func(wait func() error) error { return wait() })
}

// stamp is what tells of changes of a directory of loose objects and of that of its name beside the vault: the
// sum of their mtimes. A git gc in the store may take what the vault has not taken. rests reports whether a later
// change of either will show.
func (t *taking) stamp(info fs.FileInfo, name string) (stamp int64, rests bool) {
	stamp, rests = info.ModTime().UnixNano(), time.Since(info.ModTime()) > settled
	if t.opt.Beside == "" {
		return stamp, rests
	}
	if info, err := os.Lstat(filepath.Join(t.opt.Beside, name)); err == nil {
		stamp, rests = stamp+info.ModTime().UnixNano(), rests && time.Since(info.ModTime()) > settled
	}
	return stamp, rests
}

// missing lists those of some loose objects that lie neither in the directory to of the vault nor in
// the directory of that name beside it.
func (t *taking) missing(objects []string, to, name string) (list []string, err error) {
	has, err := namesIn(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if t.opt.Beside != "" {
		beside, err := namesIn(filepath.Join(t.opt.Beside, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		has = append(has, beside...)
	}
	slices.Sort(has)
	for _, object := range objects {
		if _, ok := slices.BinarySearch(has, object); !ok && isObject(object) {
			list = append(list, object)
		}
	}
	return list, nil
}

func namesIn(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// Inherits reports whether a store has to give the vault the loose objects that it drops. The vault
// has not taken them as long as they lay beside it.
func (v *Vault) Inherits() bool {
	_, err := os.Lstat(v.path("objects", "info", "alternates"))
	return err == nil && v.Exists()
}

// Inherit moves the file of a loose object into the vault. It reports false, and leaves the file, if
// the vault has the object.
func (v *Vault) Inherit(path string) (bool, error) {
	dir := v.path("objects", filepath.Base(filepath.Dir(path)))
	to := filepath.Join(dir, filepath.Base(path))
	if _, err := os.Lstat(to); err == nil {
		return false, nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	if err := os.Rename(path, to); err != nil {
		return false, err
	}
	return true, nil
}
