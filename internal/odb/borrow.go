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
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

const (
	// maxBorrowed is how many packs are borrowed: each one more slows every look-up
	// down, and repositories that are looked after have a handful.
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

// Borrow takes over the packs in other repositories' object directories by hard
// links, the largest first. That costs no room until the lender drops a pack, and
// whatever the lender does cannot take it away from here. Packs that cannot be linked
// (another file system, somebody else's files, gone meanwhile) are left out: there is
// no promise that anything is borrowed. The contents are not verified; reading
// compares every object with its id as always.
//
// Call it with the lock held. A crash leaves a pack that nothing refers to, or a half
// that Sweep removes.
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

// link borrows one pack. The mark comes first, so that Sweep knows what a crash leaves
// behind; the index last, because with it the pack is there for every reader. ok is false for one that cannot be linked, or is here already.
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

// linkRegular links a regular file, not what a symbolic link leads to, nor the link.
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
	_ = os.Remove(to) // replaced in between, or the half of another
	return false
}

// Borrowed reports whether the pack of this name (see PackNames) is a borrowed one.
func (db *DB) Borrowed(name string) bool { return isBorrowed(db.path(packDir, name)) }

// isBorrowed is Borrowed for a path without extension.
func isBorrowed(stem string) bool {
	mark, err := atomicfile.Read(stem + pack.KeepExt)
	return err == nil && bytes.HasPrefix(mark, []byte(borrowMark))
}

// Shared reports whether the file of a pack has other names, at the lender or in another store
// that has borrowed it.
func (db *DB) Shared(name string) bool { return links(db.path(packDir, name)+pack.Ext) > 1 }

// sweepBorrowed removes the pack and the mark of a loan that was cut short: one
// without an index.
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

// isLent reports whether a file has other names, outside the store, or has had them: the
// lender may have removed its own since, and the permissions stay what they were.
func Lent(path string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false
	}
	return links(path) > 1 || filepath.Base(filepath.Dir(path)) == "pack" && isBorrowed(strings.TrimSuffix(path, filepath.Ext(path)))
}
