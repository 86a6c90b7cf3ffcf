package odb

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// Taken counts packs that came from another store, and their bytes.
type Taken struct {
	Packs int
	Bytes int64
}

// TakeAll gives this store every object of another one. Packs come by hard link, as in Borrow, and by
// copying where the file system makes no link. Loose objects become one pack. linked and copied count
// the packs. Both locks are held.
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

// minTaken is the size, in bytes, below which a pack is not worth a link: no fold makes one of linked packs.
const minTaken = 64 << 10

// TakePacks links the packs of another store that hold wanted objects and little else: at least half of
// their objects are wanted and missing here. Every object of a pack is read before, because contents
// that are captured later count as stored where the pack has them; a pack with a damaged one is left
// out. So are small packs, those that cannot be linked, and all when maxBorrowed are borrowed here. It
// promises nothing: the caller copies the objects that are still missing. Call it with the lock of this
// store held; the other store may be written to meanwhile.
func (db *DB) TakePacks(from *DB, want []object.ID) (linked Taken, err error) {
	if err := errors.Join(db.refresh(false), from.refresh(false)); err != nil {
		return linked, err
	}
	wanted := make(map[*pack.Pack]int)
	for _, id := range want {
		if p, _, ok := from.findPacked(id); ok {
			wanted[p]++
		}
	}
	room := maxBorrowed - db.borrowed()
	for p, n := range wanted {
		if linked.Packs >= room || 2*n < p.Objects() || p.FileBytes() < minTaken || !whole(p) {
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

// borrowed counts the borrowed packs.
func (db *DB) borrowed() (n int) {
	for _, p := range db.packs.Load().packs {
		if isBorrowed(p.Stem) {
			n++
		}
	}
	return n
}

// whole reads every object of a pack, without the help of other packs, and compares it with its id.
func whole(p *pack.Pack) bool {
	x, err := p.Index()
	if err != nil {
		return false
	}
	rows, err := x.Rows()
	if err != nil {
		return false
	}
	slices.SortFunc(rows, func(a, b pack.Row) int { return cmp.Compare(a.Off, b.Off) })
	var bases pack.Bases
	return !slices.ContainsFunc(rows, func(r pack.Row) bool { return pack.ReadThrough(bases.At(p, r.Off), r.ID) != nil })
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
