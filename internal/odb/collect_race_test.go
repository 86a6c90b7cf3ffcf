package odb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// A writer comes to refer to garbage after the marks were made and before it goes:
// when nothing has been planned yet, and when the new packs are being written.
func TestCollectKeepsWhatIsRevived(t *testing.T) {
	t.Parallel()
	for _, loose := range []bool{false, true} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("loose %v, late %v", loose, late), func(t *testing.T) {
				t.Parallel()
				l := newLines(t)
				l.fill("refs/cairn/tracks/a", 8)
				l.fill("refs/cairn/tracks/b", 8)
				// In one pack with something that is needed, so that it goes when the rest is copied.
				revived := commit(t, l.DB, append(numbered("garbage", 0, 5), "needed")...)
				must(t, l.SetRef("refs/cairn/needed", revived[5]))
				if loose && !late {
					git(t, l.Dir(), "garbage 7", "hash-object", "-w", "--stdin")
					revived = append(revived, object.Sum(object.Blob, []byte("garbage 7")))
				}
				l.forget("refs/cairn/tracks/b")
				writer := reopen(t, l.DB)
				revive := sync.OnceFunc(func() {
					unlock, err := writer.Lock(t.Context())
					must(t, err)
					b := writer.NewBatch()
					entries := []object.Entry{}
					for i, id := range revived {
						if !b.Has(id) {
							t.Errorf("%s is gone already", id)
						}
						entries = append(entries, object.Entry{Name: fmt.Sprint(i), Mode: object.Regular, ID: id})
					}
					tree := must1(b.Add(object.Tree, object.AppendTree(nil, entries)))
					must(t, b.Commit())
					must(t, writer.SetRef("refs/cairn/disk", tree))
					must(t, unlock())
				})
				free := func() (int64, error) {
					if late {
						revive()
					}
					return 1 << 40, nil
				}
				g := &collector{db: l.DB, c: Collection{Thorough: true, Free: free}, out: &Collected{}}
				must(t, g.mark(t.Context()))
				if !late {
					revive()
				}
				must(t, g.sweepGarbage(t.Context()))
				if g.out.Dropped == 0 || g.out.Incomplete {
					t.Errorf("%+v", g.out)
				}
				for _, id := range revived {
					if _, _, err := reopen(t, l.DB).Read(id); err != nil {
						t.Error(err)
					}
				}
				l.check(false)
			})
		}
	}
}

// Writers that use the same few blobs again and again, so that garbage is revived all
// the time, against collectors and folds. Under the lock, everything that a ref leads
// to is there at any time; at the end it reads back.
func TestCollectAgainstWriters(t *testing.T) {
	t.Parallel()
	runs := 10 * soakFactor()
	if testing.Short() || raceEnabled {
		runs = 4
	}
	db := newStore(t)
	permanentRef(t, db)
	var all sync.WaitGroup
	var done atomic.Bool
	rounds := make([]int, 3)
	for n := range rounds {
		other := reopen(t, db)
		think := noise(uint64(n), 4<<20)
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 7))
			for ; !done.Load(); rounds[n]++ {
				object.Sum(object.Blob, think[:r.IntN(len(think))]) // so that the lock is free at times
				if err := writeSomething(t.Context(), other, r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	dropped := 0
	all.Go(func() {
		defer done.Store(true)
		other := reopen(t, db)
		for n := 0; (n < runs || dropped < 5*runs) && !t.Failed(); n++ { // the writers may be late
			out, err := other.Collect(t.Context(), Collection{Thorough: n%2 == 0})
			if err != nil || out.Blocked != nil || len(out.Lost) > 0 {
				t.Errorf("%+v, %v", out, err)
				return
			}
			dropped += out.Dropped
		}
	})
	all.Wait()
	t.Logf("%d objects were dropped while %d captures were made", dropped, rounds)
	must(t, complete(reopen(t, db)))
	collect(t, db, Collection{Thorough: true})
	must(t, complete(db))
	wantClean(t, db, "after the race")
	fsck(t, db)
}

// permanentRef makes a ref that the writers leave alone: a store without any is not
// cleaned up.
func permanentRef(t testing.TB, db *DB) {
	t.Helper()
	b := db.NewBatch()
	defer b.Discard()
	id := must1(b.Add(object.Blob, []byte("blob")))
	tree := must1(b.Add(object.Tree, object.AppendTree(nil, []object.Entry{{Name: "f", Mode: object.Regular, ID: id}})))
	must(t, b.Commit())
	must(t, db.SetRef("refs/cairn/permanent", tree))
}

// writeSomething does what a capture does: it looks which objects are there, writes
// the others, and moves a ref.
func writeSomething(ctx context.Context, db *DB, r *rand.Rand) (err error) {
	unlock, err := db.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := db.Sweep(); err != nil {
		return err
	}
	if err := complete(db); err != nil {
		return err
	}
	ref := fmt.Sprint("refs/cairn/tracks/", r.IntN(6))
	if r.IntN(4) == 0 {
		if err := db.DeleteRef(ref); !errors.Is(err, ErrNotFound) {
			return err
		}
		return nil
	}
	b := db.NewBatch()
	defer b.Discard()
	var entries []object.Entry
	for i := range 3 {
		id, err := b.Add(object.Blob, fmt.Append(nil, "blob ", r.IntN(20)))
		if err != nil {
			return err
		}
		entries = append(entries, object.Entry{Name: fmt.Sprint(i), Mode: object.Regular, ID: id})
	}
	tree, err := b.Add(object.Tree, object.AppendTree(nil, entries))
	if err != nil {
		return err
	}
	if err := b.Commit(); err != nil {
		return err
	}
	if err := db.SetRef(ref, tree); err != nil {
		return err
	}
	if r.IntN(5) == 0 {
		_, err = db.Fold(ctx)
	}
	return errors.Join(err, complete(db))
}

// errIncomplete says that something is gone that is needed.
var errIncomplete = errors.New("incomplete")

// complete reports what a ref leads to and is not there.
func complete(db *DB) error {
	refs, err := db.Refs("refs/")
	if err != nil {
		return err
	}
	for _, ref := range refs {
		_, content, err := db.Read(ref.ID)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", errIncomplete, ref.Name, err)
		}
		entries, err := object.ParseTree(content)
		if err != nil {
			return fmt.Errorf("%w: %w", errIncomplete, err)
		}
		for _, e := range entries {
			if _, _, err := db.Read(e.ID); err != nil {
				return fmt.Errorf("%w: %s: %s: %w", errIncomplete, ref.Name, e.Name, err)
			}
		}
	}
	return nil
}

// eventually waits for something that is bound to happen.
func eventually(t *testing.T, happens func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !happens(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it has not happened within a minute")
		}
	}
}

// Whoever waits for the lock is noticed, from the same process and from another, and
// no longer when it has given up or died.
func TestWanted(t *testing.T) {
	t.Parallel()
	db := newStore(t)
	unlock, err := db.Lock(t.Context())
	must(t, err)
	if db.wanted() {
		t.Fatal("nobody waits")
	}
	other := reopen(t, db)
	got := make(chan error)
	go func() {
		unlock, err := other.Lock(t.Context())
		if err == nil {
			err = unlock()
		}
		got <- err
	}()
	eventually(t, db.wanted)
	must(t, unlock())
	must(t, <-got)
	if db.wanted() {
		t.Error("nobody waits any more")
	}
	unlock, err = db.Lock(t.Context())
	must(t, err)
	go func() {
		unlock, err := db.Lock(t.Context())
		if err == nil {
			err = unlock()
		}
		got <- err
	}()
	eventually(t, db.wanted)
	must(t, unlock())
	must(t, <-got)

	unlock, err = db.Lock(t.Context())
	must(t, err)
	waiter := childCommand("lock", db.Dir())
	must(t, waiter.Start())
	eventually(t, db.wanted)
	must(t, waiter.Process.Kill())
	waiter.Wait()
	eventually(t, func() bool { return !db.wanted() })
	must(t, unlock())
}

// A collector that has much to do lets those who wait go between its steps.
func TestCollectGivesWay(t *testing.T) {
	t.Parallel()
	l := newLines(t)
	l.fill("refs/cairn/tracks/a", 2)
	for i := range 200 {
		commit(t, l.DB, fmt.Sprint("garbage ", i))
	}
	other := reopen(t, l.DB)
	var had atomic.Int32
	var others sync.WaitGroup
	out := collect(t, l.DB, Collection{BeforeRemove: func(gone, left []string) error {
		if len(gone) > removalsAtOnce {
			t.Errorf("%d packs go at once", len(gone))
		}
		others.Go(func() {
			unlock, err := other.Lock(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			had.Add(1)
			unlock()
		})
		eventually(t, l.wanted)
		return nil
	}})
	others.Wait()
	if n := had.Load(); n < 200/removalsAtOnce {
		t.Errorf("somebody else had the lock %d times", n)
	}
	if out.Dropped < 200 {
		t.Errorf("%+v", out)
	}
	l.check(true)
}
