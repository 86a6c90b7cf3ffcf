package odb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// OpenObjects opens a directory of objects that belongs to another program or store, such
// as .git/objects. Only Open, Read, Stat, Has and Close are for use. Nothing is written.
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
	db.redo.token = sync.OnceValues(func() (redoToken, bool) { return redoToken{}, false })
	return db, nil
}

// Aside reads packs that Repair has set aside. Its objects are verified as they are read.
type Aside struct {
	db    *DB
	packs []*pack.Pack
}

// Aside opens the packs in cairn/damaged whose indexes can be read. End it with Close.
func (db *DB) Aside() (*Aside, error) {
	a := &Aside{db: db}
	names, err := readNames(db.path(damagedDir))
	if err != nil {
		return a, ignoreMissing(err)
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

// Commits lists every commit that the store holds, whether anything leads to it or not.
func (db *DB) Commits(ctx context.Context) ([]object.ID, error) {
	if err := db.refresh(true); err != nil {
		return nil, err
	}
	loose, err := db.allLoose()
	if err != nil {
		return nil, err
	}
	all, err := newCensus(db.packs.Load().packs, loose)
	if err != nil {
		return nil, err
	}
	var commits []object.ID
	for _, id := range all.ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if kind, _, err := db.Stat(id); err == nil && kind == object.Commit {
			commits = append(commits, id)
		}
	}
	return commits, nil
}
