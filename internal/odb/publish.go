package odb

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
)

// publish completes a pack and its index, puts them into the store, and then sets refs. No
// object is visible before the index is renamed, and no ref before its objects. There are
// three ways to the disk: publishSmall and publishLogged by the redo log, publishFlushed
// without it.
func (db *DB) publish(w *pack.Writer, refs ...RefUpdate) (*pack.Pack, error) {
	defer w.Discard()
	if p, done, err := db.publishSmall(w, refs); done || err != nil {
		return p, err
	}
	writes, err := db.prepareRefs(refs)
	if err != nil {
		return nil, err
	}
	defer discardRefs(writes)
	s, err := w.Seal()
	if err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	defer s.Discard()
	if len(writes) == 0 {
		return db.publishFlushed(s, nil)
	}
	log, err := db.logForRefs()
	if err != nil {
		return nil, err
	}
	defer log.Unlock()
	if log == nil {
		return db.publishFlushed(s, writes)
	}
	return db.publishLogged(log, s, writes)
}

// publishFlushed flushes pack, index and refs at the same time, renames the pack,
// flushes its directory, and then renames the refs and flushes theirs.
func (db *DB) publishFlushed(s *pack.Sealed, writes []refWrite) (*pack.Pack, error) {
	if err := db.flush(append(tempFiles(writes), s.Pack, s.Idx)...); err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	if len(writes) == 0 || !db.inOrder() { // if renames keep their order, one wait for the disk is enough
		p, err := db.InstallPack(s)
		if err != nil || len(writes) == 0 {
			return p, err
		}
		return p, db.moveRefs(writes)
	}
	p, err := db.rename(s)
	if err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	return p, db.moveRefs(writes, db.path(packDir))
}

// seal completes a pack under temporary names and flushes it. It needs no lock. The files
// stay claimed until the pack is installed or discarded, so that Sweep does not take them
// for the remains of a crash. On systems without claims only the lock keeps Sweep away.
func (db *DB) SealPack(w *pack.Writer) (*pack.Sealed, error) {
	s, err := w.Seal()
	if err != nil {
		return nil, err
	}
	if err := db.flush(s.Pack, s.Idx); err != nil {
		s.Discard()
		return nil, err
	}
	return s, nil
}

// install gives pack and index their names and makes them known.
func (db *DB) InstallPack(s *pack.Sealed) (*pack.Pack, error) {
	p, err := db.rename(s)
	if err == nil {
		err = db.syncDirs(db.path(packDir))
	}
	if err != nil {
		return nil, fmt.Errorf("write pack into %s: %w", db.dir, err)
	}
	return p, nil
}

func (db *DB) rename(s *pack.Sealed) (*pack.Pack, error) {
	if p := db.intact(s.Name); p != nil {
		return p, nil
	}
	p, err := s.Place(db.path(packDir))
	if err != nil {
		return nil, err
	}
	db.add(p)
	return p, nil
}

// intact returns the readable pack of that name, if there is one. Its contents follow from
// its name.
func (db *DB) intact(name string) *pack.Pack {
	for _, p := range db.packs.Load().packs {
		if p.Name() != name {
			continue
		}
		if _, err := p.Body(); err == nil {
			return p
		}
	}
	return nil
}

// NewPackWriter returns the writer of a pack that SealPack completes.
func (db *DB) NewPackWriter() *pack.Writer { return pack.NewWriter(db.path(packDir)) }

// SealMade flushes the files of a pack that git made in a TempDir.
func (db *DB) SealMade(p *pack.Pack) (*pack.Sealed, error) {
	s := &pack.Sealed{Name: p.Name(), Size: p.FileBytes(), ByGit: true}
	for ext, to := range map[string]**os.File{pack.Ext: &s.Pack, pack.IndexExt: &s.Idx} {
		path := filepath.Clean(p.Stem + ext)
		err := os.Chmod(path, 0o600)
		if err == nil {
			*to, err = os.OpenFile(path, os.O_RDWR, 0)
		}
		if err != nil {
			if s.Pack != nil {
				s.Pack.Close()
			}
			return nil, err
		}
	}
	if err := db.flush(s.Pack, s.Idx); err != nil {
		s.Pack.Close()
		s.Idx.Close()
		return nil, err
	}
	return s, nil
}

// FlushPacks makes the names in the directory of the packs durable: packs that were removed do
// not come back after a loss of power.
func (db *DB) FlushPacks() error { return db.syncDirs(db.path(packDir)) }
