package odb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// SetAside moves a file to cairn/damaged, or anything else in the place of a file. Nothing reads
// it there but Aside. The caller does not name a directory of the layout, see FileName.
func (db *DB) SetAside(path string) error {
	rel, err := filepath.Rel(db.dir, path)
	if err != nil {
		return err
	}
	if err := db.makeDir(db.path(damagedDir)); err != nil {
		return err
	}
	name := strings.ReplaceAll(filepath.ToSlash(rel), "/", "+")
	if len(name) > 200 {
		name = name[len(name)-200:]
	}
	to := db.path(damagedDir, name)
	for n := 1; !fileMissing(to); n++ {
		to = db.path(damagedDir, fmt.Sprintf("%s.%d", name, n))
	}
	if err := atomicfile.Rename(path, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return db.syncDirs(filepath.Dir(path), db.path(damagedDir))
}

// ClearWay sets aside anything at the path of a file that is not a regular file.
func (db *DB) ClearWay(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().IsRegular() {
		return atomicfile.IgnoreMissing(err)
	}
	return db.SetAside(path)
}

// SetPackAside takes a pack out of the store and sets its files aside, the index first. stem is
// the path of the pack without an extension.
func (db *DB) SetPackAside(stem string) error {
	db.forgetStem(stem)
	for _, ext := range []string{pack.IndexExt, pack.Ext, ".rev", ".bitmap"} {
		if fileMissing(stem + ext) {
			continue
		}
		if err := db.SetAside(stem + ext); err != nil {
			return err
		}
	}
	return nil
}

// forgetStem closes the pack of a stem if the store knows it.
func (db *DB) forgetStem(stem string) {
	for _, p := range db.packs.Load().packs {
		if p.Stem == stem {
			db.forget([]*pack.Pack{p})
		}
	}
}

// ReplacePack publishes the objects that were saved of a damaged pack, if there are any, and
// sets the damaged pack aside. If all objects were saved, both packs may have the same name. The
// new pack has replaced the files of the damaged one then.
func (db *DB) ReplacePack(stem string, saved *pack.Writer) error {
	db.forgetStem(stem)
	if saved.Len() > 0 {
		p, err := db.publish(saved)
		if err != nil {
			return err
		}
		if p.Stem == stem {
			return nil
		}
	}
	return db.SetPackAside(stem)
}

// ReplaceIndex writes the index of a pack. An index that is there goes aside first.
func (db *DB) ReplaceIndex(stem string, index []byte) error {
	if !fileMissing(stem + pack.IndexExt) {
		db.forgetStem(stem)
		if err := db.SetAside(stem + pack.IndexExt); err != nil {
			return err
		}
	}
	if err := writeFile(stem+pack.IndexExt, index, !db.opt.NoSync); err != nil {
		return err
	}
	return db.refresh(true)
}

// Aside reads the packs in cairn/damaged. Every object is verified while it is read.
type Aside struct {
	db    *DB
	packs []*pack.Pack
}

// Aside opens the packs in cairn/damaged with a readable index. The caller closes it.
func (db *DB) Aside() (*Aside, error) {
	a := &Aside{db: db}
	names, err := readNames(db.path(damagedDir))
	if err != nil {
		return a, atomicfile.IgnoreMissing(err)
	}
	for _, name := range names {
		stem, ok := strings.CutSuffix(name, pack.Ext)
		if !ok || !slices.Contains(names, stem+pack.IndexExt) {
			continue
		}
		if p, err := pack.OpenDamaged(db.path(damagedDir, stem)); err == nil {
			a.packs = append(a.packs, p)
		}
	}
	return a, nil
}

// Open returns a reader as DB.Open does.
func (a *Aside) Open(id object.ID) (kind object.Kind, size int64, r io.ReadCloser, err error) {
	for _, p := range a.packs {
		off, ok, ferr := p.Find(id)
		if !ok || ferr != nil {
			continue
		}
		if kind, size, r, err = a.db.bases.At(p, off).Open(id); err == nil {
			return kind, size, r, nil
		}
	}
	return 0, 0, nil, fmt.Errorf("object %s: %w", id, errors.Join(err, ErrNotFound))
}

// Close closes the packs.
func (a *Aside) Close() error {
	for _, p := range a.packs {
		p.Close()
	}
	return nil
}

// DropDamaged removes everything that was set aside. Call it with the lock held.
func (db *DB) DropDamaged() error { return os.RemoveAll(db.path(damagedDir)) }

// Remake makes a directory or a file of the layout again, and sets aside anything that is in its
// place. ok is false for a path that is not part of the layout.
func (db *DB) Remake(path string) (ok bool, err error) {
	for _, name := range skeletonDirs {
		if db.path(name) != path {
			continue
		}
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			if err := db.SetAside(path); err != nil {
				return true, err
			}
		}
		return true, db.makeDir(path)
	}
	for name, content := range db.skeleton() {
		if db.path(name) != path {
			continue
		}
		if !fileMissing(path) {
			if err := db.SetAside(path); err != nil {
				return true, err
			}
		}
		return true, writeFile(path, []byte(content), !db.opt.NoSync)
	}
	return false, nil
}

// Skeleton returns the directories and the files that every store has, by their paths inside
// it, and the contents of the files. Of the file of the lock only the kind matters.
func (db *DB) Skeleton() (dirs []string, files map[string]string) {
	return slices.Clone(skeletonDirs), db.skeleton()
}
