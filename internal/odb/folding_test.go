package odb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb/pack"
	"github.com/seed-fb9cbc17/cairn/internal/odb/redo"
)

// foldBeside folds the lowest full tier as a watching process does beside its captures.
func foldBeside(db *DB) error {
	f, err := db.BeginFold(context.Background())
	if f == nil {
		return err
	}
	defer f.Discard()
	_, err = f.Install()
	return err
}

func TestFolding(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	ids := commitEach(t, db, numbered("blob", 0, foldAt-1)...)
	if f, err := db.BeginFold(t.Context()); f != nil || err != nil {
		t.Fatalf("seven packs: %v, %v", f, err)
	}
	ids = append(ids, commit(t, db, "blob 7")...)
	old := db.PackNames()
	f, err := db.BeginFold(t.Context())
	must(t, err)
	ids = append(ids, commit(t, db, "blob 8")...) // a publish comes meanwhile
	must(t, reopen(t, db).Sweep())                // and so does another process
	if ok, err := f.Install(); !ok || err != nil {
		t.Fatalf("installed: %v, %v", ok, err)
	}
	f.Discard()
	names := db.PackNames()
	if len(names) != 2 || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(old, name) }) {
		t.Errorf("packs %q, before %q", names, old)
	}
	if !slices.Equal(names, db.KnownPacks()) {
		t.Errorf("known packs %q, there are %q", db.KnownPacks(), names)
	}
	for _, reader := range []*DB{db, reopen(t, db)} {
		for i, id := range ids {
			wantBlob(t, reader, id, fmt.Sprint("blob ", i))
		}
	}
	noTemps(t, db)
	fsck(t, db)
}

// TestFoldingOvertaken: if an old pack is gone or has to stay, the new pack does not come, and no pack
// goes.
func TestFoldingOvertaken(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(t *testing.T, db *DB){
		"another process has folded": func(t *testing.T, db *DB) { fold(t, reopen(t, db)) },
		"a cleaning has dropped a pack": func(t *testing.T, db *DB) {
			packs, err := reopen(t, db).Packs()
			must(t, err)
			_, err = db.RetirePacks(packs[:1])
			must(t, err)
			must(t, db.Sweep())
		},
		"a pack is to be kept": func(t *testing.T, db *DB) {
			must(t, os.WriteFile(db.path(packDir, db.PackNames()[0]+pack.KeepExt), nil, 0o600))
		},
		"a pack is damaged": func(t *testing.T, db *DB) {
			must(t, os.Remove(db.path(packDir, db.PackNames()[0]+pack.IndexExt)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newStore(t)
			commitEach(t, db, numbered("blob", 0, foldAt)...)
			f, err := db.BeginFold(t.Context())
			must(t, err)
			meanwhile(t, db)
			before := db.PackNames()
			if ok, err := f.Install(); ok || err != nil {
				t.Errorf("installed: %v, %v", ok, err)
			}
			f.Discard()
			if now := db.PackNames(); !slices.Equal(now, before) {
				t.Errorf("packs %q, before %q", now, before)
			}
			noTemps(t, db)
		})
	}
}

// TestFoldingGivenUp: a fold that is not installed, or whose context has ended, changes nothing.
func TestFoldingGivenUp(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	commitEach(t, db, numbered("blob", 0, foldAt)...)
	before := contents(t, db)
	f, err := db.BeginFold(t.Context())
	must(t, err)
	f.Discard()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f, err := db.BeginFold(ctx); f != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", f, err)
	}
	if after := contents(t, db); len(after) != len(before) {
		t.Errorf("%d files, before %d", len(after), len(before))
	}
}

// TestFoldingAndTheLastRecord: the packs of large publishes are in no record. A replay drops a last
// record whose pack is missing, so no such record may stay when the pack is folded.
func TestFoldingAndTheLastRecord(t *testing.T) {
	t.Parallel()
	for _, more := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(more, " more"), func(t *testing.T) {
			t.Parallel()
			db := newLogged(t)
			ids := []object.ID{put(t, db, []byte("small"), "refs/cairn/disk")} // makes the log
			large := func(n int) {
				for range n {
					ids = append(ids, put(t, db, noise(uint64(len(ids)), redo.MaxRecord), "refs/cairn/disk"))
				}
			}
			large(foldAt)
			f, err := db.BeginFold(t.Context())
			must(t, err)
			large(more)
			if ok, err := f.Install(); !ok || err != nil {
				t.Fatalf("installed: %v, %v", ok, err)
			}
			f.Discard()
			if ref := db.refPath("refs/cairn/disk"); slices.Contains(loggedFiles(logged(t, db), db), ref) {
				must(t, os.WriteFile(ref, []byte(ids[len(ids)-2].String()+"\n"), 0o600)) // was not flushed
			}
			must(t, db.Close())
			after := openLogged(t, db.Dir(), 2) // after a loss of power
			if id, err := after.Ref("refs/cairn/disk"); err != nil || id != ids[len(ids)-1] {
				t.Errorf("the ref is %s, %v", id, err)
			}
			for _, id := range ids {
				if _, _, err := after.Read(id); err != nil {
					t.Error(err)
				}
			}
			fsck(t, after)
		})
	}
}
