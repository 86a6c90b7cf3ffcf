package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// packSet is the list of packs at one time. It is immutable: a change makes another one.
type packSet struct {
	packs  []*pack.Pack // newest first: recent objects are read most often
	change uint64       // grows whenever packs come or go
	listed bool
	mtime  time.Time // of the directory, before it was listed
	racy   bool      // a change after the listing may have left mtime as it is
}

// A later change of a directory shows if the directory's mtime is at least so old when it is
// listed: more than a tick of the kernel's clock on a file system with fractions of a
// second, more than the two seconds of FAT on others.
const (
	racyFine   = 50 * time.Millisecond
	racyCoarse = 2500 * time.Millisecond
)

func isRacy(mtime, now time.Time) bool {
	limit := racyFine
	if mtime.Nanosecond() == 0 {
		limit = racyCoarse
	}
	return now.Sub(mtime) < limit // clocks that disagree count as racy, too
}

// refresh lists the packs again if the directory may have changed since they were
// listed, or in any case if force is set.
func (db *DB) refresh(force bool) error {
	db.listing.Lock()
	defer db.listing.Unlock()
	if err := db.errClosed(); err != nil {
		return err
	}
	now := time.Now()
	mtime, err := db.packsTime()
	if err != nil {
		return db.missing(err)
	}
	old := db.packs.Load()
	if !force && old.listed && !old.racy && mtime.Equal(old.mtime) {
		return nil
	}
	stems, err := pack.List(db.path(packDir))
	if err != nil {
		return db.missing(err)
	}
	set := old.update(db.path(packDir), stems)
	set.mtime, set.racy = mtime, !db.shows() || isRacy(mtime, now)
	db.packs.Store(set)
	return nil
}

// missing explains that the directory of the packs is not there: a clone without
// packs, which is fine, or the store is gone.
func (db *DB) missing(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list packs: %w", err)
	}
	return db.gone(checkLayout(db.dir))
}

// update returns the set of the named packs. It keeps their open Packs and closes all
// others. A damaged pack is opened again: its files may have been replaced.
func (s *packSet) update(dir string, stems []string) *packSet {
	known := make(map[string]*pack.Pack, len(s.packs))
	for _, p := range s.packs {
		known[p.Name()] = p
	}
	set, changed := &packSet{listed: true, change: s.change}, false
	for _, stem := range stems {
		p := known[stem]
		if p == nil || p.Damaged() {
			p = pack.New(dir, stem)
			if info, err := os.Lstat(p.Stem + pack.IndexExt); err == nil {
				p.Made = info.ModTime()
			}
			changed = true
		} else {
			delete(known, stem)
		}
		set.packs = append(set.packs, p)
	}
	for _, p := range known {
		changed = true
		p.Close()
	}
	if changed {
		set.change++
	}
	slices.SortStableFunc(set.packs, func(a, b *pack.Pack) int { return b.Made.Compare(a.Made) })
	return set
}

// add puts a pack just written into the set.
func (db *DB) add(p *pack.Pack) {
	db.listing.Lock()
	defer db.listing.Unlock()
	old := db.packs.Load()
	if db.closed.Load() || slices.ContainsFunc(old.packs, func(q *pack.Pack) bool { return q.Stem == p.Stem && !q.Damaged() }) {
		p.Close()
		return
	}
	p.Made = time.Now()
	set := *old
	set.packs = slices.DeleteFunc(slices.Insert(slices.Clone(old.packs), 0, p), func(q *pack.Pack) bool { return q != p && q.Stem == p.Stem })
	set.change++
	db.packs.Store(&set)
}

// forget takes packs out of the set and closes them.
func (db *DB) forget(gone []*pack.Pack) {
	db.listing.Lock()
	defer db.listing.Unlock()
	old := db.packs.Load()
	set := *old
	set.packs = slices.DeleteFunc(slices.Clone(old.packs), func(p *pack.Pack) bool { return slices.Contains(gone, p) })
	set.change++
	db.packs.Store(&set)
	for _, p := range gone {
		p.Close()
	}
}

// packsTime is the time of the packs' directory.
func (db *DB) packsTime() (time.Time, error) {
	info, err := os.Stat(db.path(packDir))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// PackNames lists the packs again and returns their names, sorted, without directory and
// extension. It returns none if they cannot be listed. Folding changes the list and keeps every
// object.
func (db *DB) PackNames() []string {
	if err := db.refresh(true); err != nil {
		return nil
	}
	return db.packs.Load().names()
}

// KnownPacks returns the names of the packs as they were last listed. Any of them may be gone.
func (db *DB) KnownPacks() []string {
	if !db.packs.Load().listed {
		return db.PackNames()
	}
	return db.packs.Load().names()
}

// names returns the sorted names of the packs.
func (s *packSet) names() []string {
	names := make([]string, 0, len(s.packs))
	for _, p := range s.packs {
		names = append(names, p.Name())
	}
	slices.Sort(names)
	return names
}

// Packs lists the packs again and returns them, newest first. A pack that another process removes
// after that answers pack.ErrGone.
func (db *DB) Packs() ([]*pack.Pack, error) {
	if err := db.refresh(true); err != nil {
		return nil, err
	}
	return slices.Clone(db.packs.Load().packs), nil
}

// Packed returns the object whose entry lies at off in a pack of the store.
func (db *DB) Packed(p *pack.Pack, off int64) pack.Object { return db.bases.At(p, off) }

// findPacked looks for an object in all readable packs.
func (db *DB) findPacked(id object.ID) (p *pack.Pack, off int64, ok bool) {
	for _, p := range db.packs.Load().packs {
		if off, ok, err := p.Find(id); err == nil && ok {
			return p, off, true
		}
	}
	return nil, 0, false
}
