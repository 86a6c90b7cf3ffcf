package odb

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/internal/odb/redo"
)

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
