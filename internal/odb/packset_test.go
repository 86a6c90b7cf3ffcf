package odb

import (
	"os"
	"testing"
	"time"
)

// What was written last is found without opening what was written before.
func TestNewestPackFirst(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	ids := commitEach(t, db, numbered("blob", 0, 6)...)
	for i, p := range db.packs.Load().packs {
		at := time.Now().Add(-time.Duration(i) * time.Hour)
		must(t, os.Chtimes(p.stem+idxExt, at, at))
	}
	for name, db := range map[string]*DB{"as written": db, "as listed": reopen(t, db)} {
		must(t, db.refresh(true))
		for _, p := range db.packs.Load().packs {
			p.close()
			p.closed = false
		}
		db.last.Store(nil)
		for back := range ids {
			wantBlob(t, db, ids[len(ids)-1-back], numbered("blob", len(ids)-1-back, len(ids)-back)[0])
			open := 0
			for _, p := range db.packs.Load().packs {
				if p.idx.Load() != nil {
					open++
				}
			}
			if open != back+1 {
				t.Errorf("%s: %d packs open after the newest %d were read", name, open, back+1)
			}
		}
	}
}
