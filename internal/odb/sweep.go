package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// Sweep removes what dead writers left behind: temporary files, and files of our
// packs that lack their other half. Call it with the lock held; writers without the
// lock are respected all the same where their temporary files show that they live
// (see atomicfile). Without leftovers it costs the reading of four directories.
func (db *DB) Sweep() error {
	err := errors.Join(
		db.sweepPackedRefsLock(),
		atomicfile.Sweep(db.dir, atomicfile.Prefix),
		sweepAside(db.path(privateDir)), // temporary files and quarantines
		atomicfile.Sweep(db.path(journalDir), atomicfile.Prefix),
		db.sweepPacks(),
	)
	if err != nil {
		return fmt.Errorf("sweep store %s: %w", db.dir, err)
	}
	return nil
}

// sweepPackedRefsLock removes git's lock of packed-refs if it was ours: if it is the
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
		case strings.HasPrefix(name, gonePrefix):
			err = errors.Join(err, finishRemoval(path, names))
		case strings.HasPrefix(name, tempPrefix):
			_, rerr := atomicfile.RemoveDead(path)
			err = errors.Join(err, rerr)
		case isHalf(names, name, packExt, idxExt) && ownHalf(path, packExt),
			isHalf(names, name, idxExt, packExt) && ownHalf(path, idxExt):
			_, rerr := atomicfile.RemoveDead(path)
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// finishRemoval removes a file of a pack that was being removed. If that is the index,
// the pack goes before it, unless there is one of that name again.
func finishRemoval(path string, names []string) error {
	stem := packPrefix + strings.TrimPrefix(filepath.Base(path), gonePrefix)
	_, again := slices.BinarySearch(names, stem+idxExt)
	if !strings.HasSuffix(path, packExt) && !again {
		if err := removeIfThere(filepath.Join(filepath.Dir(path), stem+packExt)); err != nil {
			return err
		}
	}
	if err := removeIfThere(path); err != nil && !inUse(err) {
		return err
	}
	return nil
}

// isHalf reports whether name is a file of a pack, with the extension ext, that
// lacks the one with the extension other.
func isHalf(names []string, name, ext, other string) bool {
	stem, ok := strings.CutSuffix(name, ext)
	if !ok || !strings.HasPrefix(stem, packPrefix) {
		return false
	}
	_, whole := slices.BinarySearch(names, stem+other)
	_, kept := slices.BinarySearch(names, stem+keepExt)
	return !whole && !kept
}

// ownHalf reports whether a file of a pack is one that we wrote: whether its name
// follows from the checksum that it holds.
func ownHalf(path, ext string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	fromEnd := int64(idSize) // a pack ends with its checksum
	if ext == idxExt {       // an index with that and its own
		fromEnd = idxTail
	}
	var sum [idSize]byte
	if info.Size() < fromEnd || readAt(f, sum[:], info.Size()-fromEnd) != nil {
		return false
	}
	return filepath.Base(path) == ownName(sum)+ext
}
