package odb

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Sweep removes the leftovers of dead writers: temporary files, packs of cairn's without an
// index, and indexes without a pack. Call it with the lock held. The temporary file of a writer
// without the lock shows whether the writer lives, see atomicfile, and stays then. An open store
// gets its version back. Without leftovers Sweep reads four directories and the version.
func (db *DB) Sweep() error {
	err := errors.Join(
		db.sweepPackedRefsLock(),
		db.sweepTrees(),
		atomicfile.Sweep(db.dir, atomicfile.Prefix),
		db.SweepPrivate(),
		atomicfile.Sweep(db.path(journalDir), atomicfile.Prefix),
		db.sweepPacks(),
		db.sweepVersion(),
	)
	if err != nil {
		return fmt.Errorf("sweep store %s: %w", db.dir, err)
	}
	return nil
}

// SweepPrivate is Sweep for cairn/ alone: temporary files and directories, and quarantines.
func (db *DB) SweepPrivate() error { return sweepAside(db.path(privateDir)) }

// sweepVersion takes the version of a sealed store from an open one: a process died beside the commit of sealing or
// opening it.
func (db *DB) sweepVersion() error {
	text, err := atomicfile.Read(db.path(versionFile))
	if err != nil || strings.TrimSpace(string(text)) != sealedVersion || IsSealed(db.dir) {
		return nil // a missing version is for a repair
	}
	return db.MarkSealed(false)
}

// sweepTrees removes cairn/trees, a cache of look-ups that earlier releases wrote.
func (db *DB) sweepTrees() error {
	path := db.PrivatePath("trees")
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return atomicfile.IgnoreInUse(atomicfile.RemoveIfThere(path))
}

// sweepPackedRefsLock removes git's lock of packed-refs if this program made it: if it is the
// same file as a claim whose owner is dead. The claim goes after it.
func (db *DB) sweepPackedRefsLock() error {
	lock, err := os.Lstat(db.path(packedRefsLock))
	if err != nil {
		return nil
	}
	names, err := readNames(db.path(privateDir))
	if err != nil {
		return err
	}
	for _, name := range names {
		claim, err := os.Lstat(db.path(privateDir, name))
		if err == nil && strings.HasPrefix(name, atomicfile.Prefix) && os.SameFile(lock, claim) {
			_, err := atomicfile.RemoveDead(db.path(packedRefsLock))
			return err
		}
	}
	return nil
}

func (db *DB) sweepPacks() error {
	dir := db.path(packDir)
	names, err := readNames(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	slices.Sort(names)
	err = db.sweepBorrowed(names)
	for _, name := range names {
		path := filepath.Join(dir, name)
		switch {
		case strings.HasPrefix(name, GonePrefix):
			err = errors.Join(err, finishRemoval(path, names))
		case strings.HasPrefix(name, pack.TempPrefix):
			_, rerr := atomicfile.RemoveDead(path)
			err = errors.Join(err, rerr)
		case isHalf(names, name, pack.Ext, pack.IndexExt) && ownHalf(path),
			isHalf(names, name, pack.IndexExt, pack.Ext) && namedIndex(path):
			_, rerr := atomicfile.RemoveDead(path)
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// finishRemoval removes a file of a pack that was being removed. If the file is the index, the
// pack goes before it, unless there is a pack of that name again.
func finishRemoval(path string, names []string) error {
	stem := pack.Prefix + strings.TrimPrefix(filepath.Base(path), GonePrefix)
	_, again := slices.BinarySearch(names, stem+pack.IndexExt)
	if !strings.HasSuffix(path, pack.Ext) && !again {
		if err := atomicfile.RemoveIfThere(filepath.Join(filepath.Dir(path), stem+pack.Ext)); err != nil {
			return atomicfile.IgnoreInUse(err)
		}
	}
	return atomicfile.IgnoreInUse(atomicfile.RemoveIfThere(path))
}

// isHalf reports whether name is a file of a pack, with the extension ext, that lacks the file
// with the extension other.
func isHalf(names []string, name, ext, other string) bool {
	stem, ok := strings.CutSuffix(name, ext)
	if !ok || !strings.HasPrefix(stem, pack.Prefix) {
		return false
	}
	_, whole := slices.BinarySearch(names, stem+other)
	_, kept := slices.BinarySearch(names, stem+pack.KeepExt)
	return !whole && !kept
}

// ownHalf reports whether this program wrote a pack: its name follows from the checksum at its
// end.
func ownHalf(path string) bool {
	sum, err := sumFromEnd(path, idSize)
	return err == nil && filepath.Base(path) == pack.OwnName(sum)+pack.Ext
}

// namedIndex reports whether the name of an index fits its contents, as cairn or git names it.
// Git makes a pack before its index and removes it after its index, so no running git works on a
// lone index.
func namedIndex(path string) bool {
	sum, err := sumFromEnd(path, pack.IndexTailSize) // that of the pack and its own
	base := filepath.Base(path)
	return err == nil && (base == pack.OwnName(sum)+pack.IndexExt || base == pack.Prefix+hex.EncodeToString(sum[:])+pack.IndexExt)
}

func sumFromEnd(path string, distance int) (sum [idSize]byte, err error) {
	f, err := atomicfile.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() < int64(distance) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = pack.ReadAt(f, sum[:], info.Size()-int64(distance))
	}
	return sum, err
}

// sweepAside removes the unfinished stores of dead processes, and their claims.
func sweepAside(parent string) error {
	names, err := readNames(parent)
	for _, name := range names {
		claim, ok := strings.CutSuffix(name, AsideSuffix)
		if !ok || !strings.HasPrefix(name, atomicfile.Prefix) {
			continue
		}
		dead, rerr := atomicfile.RemoveDead(filepath.Join(parent, claim))
		if dead {
			rerr = errors.Join(rerr, atomicfile.IgnoreInUse(os.RemoveAll(filepath.Join(parent, name))))
		}
		err = errors.Join(err, rerr)
	}
	return errors.Join(err, atomicfile.Sweep(parent, atomicfile.Prefix))
}
