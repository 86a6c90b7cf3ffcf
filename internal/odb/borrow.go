package odb

import (
	"bytes"
	"cmp"
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

// Taken counts packs that came from another store, and their bytes.
type Taken struct {
	Packs int
	Bytes int64
}

// TakeAll gives this store every object of another one: packs by hard link, as Borrow does, and by
// copying where the file system makes no link; loose objects as one pack. linked and copied count the
// packs. Both locks are held.
func (db *DB) TakeAll(from *DB) (linked, copied Taken, err error) {
	for range maxTakes {
		linked, copied, err = db.takePacks(from)
		if !errors.Is(err, fs.ErrNotExist) {
			break // else another program has repacked meanwhile
		}
	}
	if err == nil {
		err = db.takeLoose(from)
	}
	if err == nil {
		err = db.refresh(true)
	}
	if err != nil {
		return linked, copied, fmt.Errorf("take the objects of %s: %w", from.dir, err)
	}
	return linked, copied, nil
}

// maxTakes is how often packs are listed that another program removes meanwhile.
const maxTakes = 5

func (db *DB) takePacks(from *DB) (linked, copied Taken, err error) {
	if err := db.makeDir(db.path(packDir)); err != nil {
		return linked, copied, err
	}
	stems, err := pack.List(from.path(packDir))
	if err != nil {
		return linked, copied, err
	}
	for _, stem := range stems {
		count := &linked
		l := lent{stem: from.path(packDir, stem)}
		_, have := os.Lstat(db.path(packDir, stem+pack.IndexExt))
		ok, err := db.link(l)
		if err == nil && !ok && have != nil {
			count, err = &copied, db.copyPack(l)
		}
		if err == nil && ok {
			err = db.flushTaken(stem, from.Borrowed(stem))
		}
		if err != nil {
			return linked, copied, err
		}
		info, err := os.Stat(db.path(packDir, stem+pack.Ext))
		if err != nil {
			return linked, copied, err
		}
		count.Packs, count.Bytes = count.Packs+1, count.Bytes+info.Size()
	}
	return linked, copied, db.syncDirs(db.path(packDir))
}

// flushTaken flushes a pack that the redo log of the other store may still stand for. That of git is
// flushed.
func (db *DB) flushTaken(stem string, ofGit bool) error {
	if db.opt.NoSync || ofGit {
		return nil
	}
	for _, ext := range []string{pack.Ext, pack.IndexExt} {
		if err := atomicfile.SyncFile(db.path(packDir, stem+ext)); err != nil {
			return err
		}
	}
	return nil
}

// copyPack copies a pack. The index comes last, which shows the pack to every reader.
func (db *DB) copyPack(l lent) error {
	for _, ext := range []string{pack.Ext, pack.IndexExt} {
		in, err := atomicfile.Open(l.stem + ext)
		if err != nil {
			return err
		}
		err = atomicfile.Write(db.path(packDir, filepath.Base(l.stem)+ext), 0o600, !db.opt.NoSync, func(w io.Writer) error {
			_, err := io.Copy(w, in)
			return err
		})
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}

// takeLoose copies loose objects, which only other programs write.
func (db *DB) takeLoose(from *DB) error {
	ids, err := from.LooseObjects()
	if err != nil || len(ids) == 0 {
		return err
	}
	batch := db.NewBatch()
	defer batch.Discard()
	for _, id := range ids {
		if err := takeObject(batch, from, id); err != nil {
			return err
		}
	}
	return batch.Commit()
}

// TakePacks links the packs of another store that hold wanted objects and little else: at least half of
// their objects are wanted and missing here. Each wanted object of a pack is read before, and a pack with
// a damaged one is left out, as is one that cannot be linked. It promises nothing: the caller copies what
// is still missing. Call it with the lock of this store held; the other store may be written to meanwhile.
func (db *DB) TakePacks(from *DB, want []object.ID) (linked Taken, err error) {
	wanted := make(map[*pack.Pack][]object.ID)
	for _, id := range want {
		if p, _, ok := from.findPacked(id); ok {
			wanted[p] = append(wanted[p], id)
		}
	}
	for p, ids := range wanted {
		if 2*len(ids) < p.Objects() || !from.readable(ids) {
			continue
		}
		ok, err := db.link(lent{stem: p.Stem})
		if err == nil && ok {
			err = db.flushTaken(p.Name(), from.Borrowed(p.Name()))
		}
		if err != nil {
			return linked, fmt.Errorf("take pack %s: %w", p.Stem, err)
		}
		if ok {
			linked.Packs, linked.Bytes = linked.Packs+1, linked.Bytes+p.FileBytes()
		}
	}
	if linked.Packs == 0 {
		return linked, nil
	}
	return linked, errors.Join(db.syncDirs(db.path(packDir)), db.refresh(true))
}

// readable reads objects to their ends, which compares them with their ids.
func (db *DB) readable(ids []object.ID) bool {
	for _, id := range ids {
		_, _, r, err := db.Open(id)
		if err != nil {
			return false
		}
		_, err = io.Copy(io.Discard, r)
		if errors.Join(err, r.Close()) != nil {
			return false
		}
	}
	return true
}

func takeObject(batch *Batch, from *DB, id object.ID) error {
	kind, size, r, err := from.Open(id)
	if errors.Is(err, ErrCorrupt) {
		return nil // it cannot be read there either
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if kind == object.Blob {
		_, err = batch.AddBlob(r, size)
		return err
	}
	content, err := io.ReadAll(r)
	if err == nil {
		_, err = batch.Add(kind, content)
	}
	return err
}
