package odb

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/redo"
)

const (
	// maxBorrowed is how many packs are borrowed at most: each pack slows every look-up
	// down, and a repository that is repacked has a handful.
	maxBorrowed = 64

	// borrowMark begins the .keep file of a borrowed pack, which keeps git and Fold
	// from copying it.
	borrowMark = "cairn: borrowed"
)

// lent is a pack of another repository.
type lent struct {
	stem string // path without extension
	size int64
}

// Borrow links the packs in object directories of other repositories into the store, the largest
// first. A hard link takes no room until the lender drops the pack, and the lender cannot take it
// away from here. Borrow leaves out packs that cannot be linked: on another file system, with
// another owner, gone meanwhile. It promises no number of packs. It does not verify contents;
// every read compares an object with its id.
//
// Call it with the lock held. A crash leaves a pack that nothing refers to, or half a pack, which
// Sweep removes.
func (db *DB) Borrow(objectDirs []string) (packs int, err error) {
	for _, l := range lendable(objectDirs) {
		if packs == maxBorrowed {
			break
		}
		ok, err := db.link(l)
		if err != nil {
			return packs, fmt.Errorf("borrow pack %s: %w", l.stem, err)
		}
		if ok {
			packs++
		}
	}
	if packs == 0 {
		return 0, nil
	}
	if !db.opt.NoSync {
		if err := atomicfile.SyncDir(db.path(packDir)); err != nil {
			return packs, fmt.Errorf("borrow packs: %w", err)
		}
	}
	return packs, db.refresh(true)
}

// lendable lists the complete packs of the directories, the largest first.
func lendable(objectDirs []string) []lent {
	var list []lent
	for _, dir := range objectDirs {
		dir = filepath.Join(dir, "pack")
		stems, err := pack.List(dir)
		if err != nil {
			continue
		}
		for _, stem := range stems {
			info, err := os.Lstat(filepath.Join(dir, stem+pack.Ext))
			if err == nil && info.Mode().IsRegular() {
				list = append(list, lent{filepath.Join(dir, stem), info.Size()})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b lent) int { return cmp.Compare(b.size, a.size) })
	return list
}

// link borrows one pack. It writes the mark first, so that Sweep recognizes the rest after a
// crash, and links the index last, which shows the pack to every reader. ok is false for a pack
// that cannot be linked, and for one that is in the store already.
func (db *DB) link(l lent) (ok bool, err error) {
	if err := db.makeDir(db.path(packDir)); err != nil {
		return false, err
	}
	to := db.path(packDir, filepath.Base(l.stem))
	if _, err := os.Lstat(to + pack.IndexExt); err == nil {
		return false, nil
	}
	if err := os.WriteFile(to+pack.KeepExt, []byte(borrowMark+" from "+filepath.Dir(l.stem)+"\n"), 0o600); err != nil {
		return false, errors.Join(err, atomicfile.RemoveIfThere(to+pack.KeepExt))
	}
	if linkRegular(l.stem+pack.Ext, to+pack.Ext) && linkRegular(l.stem+pack.IndexExt, to+pack.IndexExt) {
		return true, nil
	}
	return false, errors.Join(atomicfile.RemoveIfThere(to+pack.Ext), atomicfile.RemoveIfThere(to+pack.KeepExt))
}

// linkRegular makes a hard link to a regular file. It links neither a symbolic link nor the file
// that it leads to.
func linkRegular(from, to string) bool {
	info, err := os.Lstat(from)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if err := os.Link(from, to); err != nil && !errors.Is(err, fs.ErrExist) {
		return false
	}
	now, err := os.Lstat(to)
	if err == nil && os.SameFile(info, now) {
		return true
	}
	_ = os.Remove(to) // the lender has replaced the file, or half a pack was here
	return false
}

// Borrowed reports whether the pack of this name is a borrowed one.
func (db *DB) Borrowed(name string) bool { return isBorrowed(db.path(packDir, name)) }

// isBorrowed is Borrowed for the path of a pack without an extension.
func isBorrowed(stem string) bool {
	mark, err := atomicfile.Read(stem + pack.KeepExt)
	return err == nil && bytes.HasPrefix(mark, []byte(borrowMark))
}

// Shared reports whether the file of a pack has names outside of this store, at the lender or in
// another store that has borrowed it.
func (db *DB) Shared(name string) bool { return lentOut(db.path(packDir, name) + pack.Ext) }

// sweepBorrowed removes the pack and the mark of a loan that was interrupted: a loan without an
// index.
func (db *DB) sweepBorrowed(names []string) error {
	var errs []error
	for _, name := range names {
		stem, ok := strings.CutSuffix(name, pack.KeepExt)
		if _, whole := slices.BinarySearch(names, stem+pack.IndexExt); !ok || whole || !db.Borrowed(stem) {
			continue
		}
		err := atomicfile.RemoveIfThere(db.path(packDir, stem+pack.Ext))
		if err == nil { // the mark goes last
			err = os.Remove(db.path(packDir, name))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Lent reports whether a file belongs to another repository, too, or did: it has several names,
// is part of a borrowed pack, or is a loose object without write permission. Its permissions are the
// lender's.
func Lent(path string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false
	}
	if isLoose(path) && info.Mode().Perm()&0o222 == 0 {
		return true
	}
	return links(path) > 1 || filepath.Base(filepath.Dir(path)) == "pack" && isBorrowed(strings.TrimSuffix(path, filepath.Ext(path)))
}

// OpenObjects opens a directory of objects of another program or store, such as .git/objects. The
// caller uses only Open, Read, Stat, Has and Close. It writes nothing.
func OpenObjects(objectDir string) (*DB, error) {
	dir, err := filepath.Abs(objectDir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(filepath.Join(dir, "pack")); filepath.Base(dir) != "objects" || err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory of objects: %w", dir, ErrNotFound)
	}
	db := &DB{dir: filepath.Dir(dir), turn: make(chan struct{}, 1), refLockWait: refLockWait}
	db.packs.Store(&packSet{})
	db.bases.Elsewhere = db.findPacked
	yes := func() bool { return true }
	db.inOrder, db.shows = yes, yes
	db.log = db.newLog(func() (redo.Token, bool) { return redo.Token{}, false })
	return db, nil
}

// ObjectDirs are directories of objects of one repository, open for reading.
type ObjectDirs []*DB

// OpenObjectDirs opens those that can be opened, see OpenObjects.
func OpenObjectDirs(dirs []string) (open ObjectDirs) {
	for _, dir := range dirs {
		if db, err := OpenObjects(dir); err == nil {
			open = append(open, db)
		}
	}
	return open
}

// Close closes all of them.
func (o ObjectDirs) Close() {
	for _, db := range o {
		db.Close()
	}
}

// Read reads an object of a kind from the first directory that has it. One of more than most bytes, of another kind, or
// that is damaged there is an error; most 0 = any size. ErrNotFound: none has it.
func (o ObjectDirs) Read(id object.ID, want object.Kind, most int64) ([]byte, error) {
	for _, db := range o {
		kind, size, err := db.Stat(id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err == nil && (kind != want || most > 0 && size > most) {
			err = fmt.Errorf("%s is no %s that can be read", id, want)
		}
		if err != nil {
			return nil, err
		}
		_, data, err := db.Read(id)
		return data, err
	}
	return nil, fmt.Errorf("%s %s: %w", want, id, ErrNotFound)
}

// maxCommit is the size in bytes above which a commit is not read.
const maxCommit = 16 << 20

// Commit reads a commit, see Read.
func (o ObjectDirs) Commit(id object.ID) (*object.CommitData, error) {
	data, err := o.Read(id, object.Commit, maxCommit)
	if err != nil {
		return nil, err
	}
	return object.ParseCommit(data)
}
