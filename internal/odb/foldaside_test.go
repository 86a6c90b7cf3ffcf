package odb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// foldAside does it with the lock only where that is needed.
func foldAside(t testing.TB, db *DB, record func(packs []string) error) error {
	t.Helper()
	a, err := db.FoldAside(t.Context())
	must(t, err)
	if a == nil {
		return nil
	}
	defer a.Close()
	unlock, err := db.Lock(t.Context())
	must(t, err)
	defer unlock()
	return a.Install(record)
}

func noRecord([]string) error { return nil }

func TestFoldAside(t *testing.T) {
	t.Parallel()
	for name, ordered := range map[string]bool{"order is kept": true, "order is not kept": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newStore(t)
			db.inOrder = func() bool { return ordered }
			ids := commitEach(t, db, numbered("blob", 0, foldAt-1)...)
			if a, err := db.FoldAside(t.Context()); a != nil || err != nil || db.Crowded(1) {
				t.Fatalf("seven packs: %v, %v", a, err)
			}
			ids = append(ids, commit(t, db, "blob 7")...)
			if !db.Crowded(1) || db.Crowded(2) {
				t.Fatal("eight packs are not so many")
			}
			var names []string
			must(t, foldAside(t, db, func(packs []string) error {
				if names = packs; len(db.PackNames()) != foldAt+1 {
					t.Errorf("packs %q when the new one is in place", db.PackNames())
				}
				return nil
			}))
			if len(names) != 1 || !slices.Equal(names, db.PackNames()) || !slices.Equal(names, db.KnownPacks()) {
				t.Errorf("recorded %q, there are %q", names, db.PackNames())
			}
			for _, reader := range []*DB{db, reopen(t, db)} {
				for i, id := range ids {
					wantBlob(t, reader, id, fmt.Sprint("blob ", i))
				}
			}
			noTemps(t, db)
			fsck(t, db)
		})
	}
}

// TestFoldAsideOvertaken: where one of the packs is not there any more, or has to stay,
// the new one does not come, and nothing goes.
func TestFoldAsideOvertaken(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(t *testing.T, db *DB){
		"somebody else has folded": func(t *testing.T, db *DB) { fold(t, reopen(t, db)) },
		"a cleaning has dropped what they held": func(t *testing.T, db *DB) {
			collect(t, reopen(t, db), Collection{Thorough: true})
		},
		"a pack is to be kept": func(t *testing.T, db *DB) {
			must(t, os.WriteFile(db.path(packDir, db.PackNames()[0]+keepExt), nil, 0o600))
		},
		"a pack is damaged": func(t *testing.T, db *DB) {
			must(t, os.Remove(db.path(packDir, db.PackNames()[0]+idxExt)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newStore(t)
			ids := commitEach(t, db, numbered("blob", 0, foldAt)...)
			must(t, db.SetRef("refs/cairn/kept", ids[0]))
			a, err := db.FoldAside(t.Context())
			must(t, err)
			meanwhile(t, db)
			before := db.PackNames()
			err = a.Install(func([]string) error { t.Error("recorded"); return nil })
			if !errors.Is(err, ErrOvertaken) {
				t.Errorf("%v, want ErrOvertaken", err)
			}
			a.Close()
			if now := db.PackNames(); !slices.Equal(now, before) {
				t.Errorf("packs %q, before %q", now, before)
			}
			noTemps(t, db)
		})
	}
}

// TestFoldAsideGivenUp: what could not be recorded, and what nobody waits for any more,
// takes nothing away.
func TestFoldAsideGivenUp(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	ids := commitEach(t, db, numbered("blob", 0, foldAt)...)
	before := db.PackNames()
	boom := errors.New("boom")
	if err := foldAside(t, db, func([]string) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("%v, want that of record", err)
	}
	for _, name := range before {
		if !slices.Contains(db.PackNames(), name) {
			t.Errorf("%s is gone", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a, err := db.FoldAside(ctx); a != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", a, err)
	}
	noTemps(t, db)
	must(t, foldAside(t, db, noRecord))
	for i, id := range ids {
		wantBlob(t, reopen(t, db), id, fmt.Sprint("blob ", i))
	}
	fsck(t, db)
}

// TestFoldAsideIsNotSwept: another process that has the lock meanwhile leaves the new
// pack alone.
func TestFoldAsideIsNotSwept(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	ids := commitEach(t, db, numbered("blob", 0, foldAt)...)
	a, err := db.FoldAside(t.Context())
	must(t, err)
	defer a.Close()
	must(t, reopen(t, db).Sweep())
	must(t, a.Install(noRecord))
	for i, id := range ids {
		wantBlob(t, reopen(t, db), id, fmt.Sprint("blob ", i))
	}
}

// largeEach publishes contents that are in no record.
func largeEach(t testing.TB, db *DB, from, to int) (ids []object.ID) {
	t.Helper()
	for i := from; i < to; i++ {
		ids = append(ids, put(t, db, noise(uint64(i), redoMax), "refs/cairn/disk"))
	}
	return ids
}

// TestFoldAsideAndTheLastRecord: a record that does not hold its pack, which is folded,
// says that it was never published, if it is the last one. It must not stay.
func TestFoldAsideAndTheLastRecord(t *testing.T) {
	t.Parallel()
	for _, more := range []int{0, 1, 3} {
		dir := t.TempDir() + "/store"
		db := openLogged(t, dir, 1)
		ids := largeEach(t, db, 0, foldAt)
		a, err := db.FoldAside(t.Context())
		must(t, err)
		ids = append(ids, largeEach(t, db, foldAt, foldAt+more)...)
		must(t, a.Install(noRecord))
		a.Close()
		must(t, db.Close())
		after := openLogged(t, dir, 2) // another boot
		if id, err := after.Ref("refs/cairn/disk"); err != nil || id != ids[len(ids)-1] {
			t.Errorf("%d more: the ref is %s, %v", more, id, err)
		}
		for _, id := range ids {
			if _, _, err := after.Read(id); err != nil {
				t.Errorf("%d more: %v", more, err)
			}
		}
		fsck(t, after)
	}
}

// TestSettleAside: a log that is half full is emptied, one that is not stays.
func TestSettleAside(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	var ids []object.ID
	fill := func(until int64) {
		for len(ids) == 0 || db.redo.tail.end < until {
			ids = append(ids, put(t, db, noise(uint64(len(ids)), 9000), "refs/cairn/disk"))
		}
	}
	fill(redoSize / 4)
	must(t, db.SettleAside(t.Context()))
	if len(logged(t, db)) == 0 {
		t.Error("emptied too early")
	}
	fill(redoSize / 2)
	must(t, db.SettleAside(t.Context()))
	if n := len(logged(t, db)); n > 0 {
		t.Errorf("%d records are left", n)
	}
	for i, id := range ids {
		wantBlob(t, db, id, string(noise(uint64(i), 9000)))
	}
}

// TestSettleAsideMeanwhile: a record that comes while others are flushed is not thrown
// away without having been flushed, and what was flushed of another log counts for nothing.
func TestSettleAsideMeanwhile(t *testing.T) {
	t.Parallel()
	db := newLogged(t)
	fillTo := func(until int64) {
		for db.redo.tail.end < until {
			put(t, db, noise(uint64(db.redo.tail.end), 9000), "refs/cairn/disk")
		}
	}
	unsettled := func(want int) {
		t.Helper()
		rest, upTo, err := db.unsettled()
		must(t, err)
		if len(rest) != want {
			t.Errorf("%d records to be flushed, want %d", len(rest), want)
		}
		if want > 0 {
			must(t, db.flushAside(t.Context(), rest))
			db.redo.settled = upTo
		}
	}
	meanwhile := func(n int) {
		for i := range n {
			put(t, db, fmt.Appendf(nil, "meanwhile %d of %d", i, n), "refs/cairn/disk")
		}
	}
	fillTo(redoSize / 2)
	must(t, db.SettleAside(t.Context()))
	if db.redo.size != redoLarge {
		t.Errorf("the log has room for %d bytes", db.redo.size)
	}
	fillTo(redoLarge / 2)
	unsettled(len(logged(t, db)))
	meanwhile(lastRecords + 3)
	unsettled(lastRecords + 3)
	meanwhile(lastRecords)
	before := len(logged(t, db))
	unsettled(0)
	if n := len(logged(t, db)); before == 0 || n != 0 {
		t.Errorf("%d records of %d are left although few were to be flushed", n, before)
	}
	fillTo(redoLarge / 2)
	unsettled(len(logged(t, db)))
	fillTo(redoLarge * 7 / 8)
	if unsettled(0); len(logged(t, db)) != 0 {
		t.Error("not emptied although it is about to be full")
	}
	fillTo(redoLarge / 2)
	unsettled(len(logged(t, db)))
	must(t, reopen(t, db).SettleAside(t.Context())) // which knows nothing of that, and empties it
	fillTo(redoLarge / 2)
	unsettled(len(logged(t, db)))
}

// TestKnownPacks: what is known is what was listed; before that, it is what is there.
func TestKnownPacks(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	commitEach(t, db, numbered("blob", 0, 3)...)
	names := db.PackNames()
	other := reopen(t, db)
	if got := other.KnownPacks(); len(got) != 3 || !slices.Equal(got, names) {
		t.Errorf("%q before anything was listed, want %q", got, names)
	}
	commit(t, db, "blob 3")
	if got := db.KnownPacks(); len(got) != 4 || !slices.Equal(got, db.PackNames()) {
		t.Errorf("%q, there are %q", got, db.PackNames())
	}
	if got := other.KnownPacks(); !slices.Equal(got, names) {
		t.Errorf("%q, listed were %q", got, names)
	}
}
