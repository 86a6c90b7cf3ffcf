package collect

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/odb/odbtest"
)

// A writer refers to garbage after the marks were made and before the garbage goes: before the
// jobs are planned, and while the new packs are written.
func TestCollectKeepsWhatIsRevived(t *testing.T) {
	t.Parallel()
	for _, loose := range []bool{false, true} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("loose %v, late %v", loose, late), func(t *testing.T) {
				t.Parallel()
				l := odbtest.NewLines(t)
				l.Fill("refs/cairn/tracks/a", 8)
				l.Fill("refs/cairn/tracks/b", 8)
				// In one pack with something that is needed, so that it goes when the rest is copied.
				revived := odbtest.Commit(t, l.DB, append(odbtest.Numbered("garbage", 0, 5), "needed")...)
				must(t, l.SetRef("refs/cairn/needed", revived[5]))
				if loose && !late {
					gittest.Bare(t, l.Dir(), "garbage 7", "hash-object", "-w", "--stdin")
					revived = append(revived, object.Sum(object.Blob, []byte("garbage 7")))
				}
				l.Forget("refs/cairn/tracks/b")
				writer := odbtest.Reopen(t, l.DB)
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
				g := &collector{db: l.DB, opt: Options{Thorough: true, Free: free}, out: &Result{}}
				must(t, g.mark(t.Context()))
				if !late {
					revive()
				}
				must(t, g.sweepGarbage(t.Context()))
				if g.out.Dropped == 0 || g.out.Incomplete {
					t.Errorf("%+v", g.out)
				}
				for _, id := range revived {
					if _, _, err := odbtest.Reopen(t, l.DB).Read(id); err != nil {
						t.Error(err)
					}
				}
				l.Check(false)
			})
		}
	}
}

// Writers that use the same few blobs again and again revive garbage all the time, beside
// collections and folds. Under the lock, every object that a ref leads to is there at any time;
// at the end all of them read back.
func TestCollectAgainstWriters(t *testing.T) {
	t.Parallel()
	runs := 10 * gittest.SoakFactor()
	if testing.Short() || gittest.Race {
		runs = 4
	}
	db := odbtest.New(t)
	permanentRef(t, db)
	var all sync.WaitGroup
	var done atomic.Bool
	rounds := make([]int, 3)
	for n := range rounds {
		other := odbtest.Reopen(t, db)
		think := gittest.Noise(uint64(n), 4<<20)
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
		other := odbtest.Reopen(t, db)
		for n := 0; (n < runs || dropped < 5*runs) && !t.Failed(); n++ { // the writers may be late
			out, err := Run(t.Context(), other, Options{Thorough: n%2 == 0})
			if err != nil || out.Blocked != nil || len(out.Lost) > 0 {
				t.Errorf("%+v, %v", out, err)
				return
			}
			dropped += out.Dropped
		}
	})
	all.Wait()
	t.Logf("%d objects were dropped while %d captures were made", dropped, rounds)
	must(t, complete(odbtest.Reopen(t, db)))
	collect(t, db, Options{Thorough: true})
	must(t, complete(db))
	odbtest.WantClean(t, db, "after the race")
	odbtest.Fsck(t, db)
}

// permanentRef makes a ref that the writers leave alone: a store without a ref is not cleaned up.
func permanentRef(t testing.TB, db *odb.DB) {
	t.Helper()
	b := db.NewBatch()
	defer b.Discard()
	id := must1(b.Add(object.Blob, []byte("blob")))
	tree := must1(b.Add(object.Tree, object.AppendTree(nil, []object.Entry{{Name: "f", Mode: object.Regular, ID: id}})))
	must(t, b.Commit())
	must(t, db.SetRef("refs/cairn/permanent", tree))
}

// writeSomething works as a capture does: it looks objects up, writes the absent ones, and moves
// a ref.
func writeSomething(ctx context.Context, db *odb.DB, r *rand.Rand) (err error) {
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
		if err := db.DeleteRef(ref); !errors.Is(err, odb.ErrNotFound) {
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

// errIncomplete says that an object is gone that is needed.
var errIncomplete = errors.New("incomplete")

// complete fails if a ref leads to an object that is not there.
func complete(db *odb.DB) error {
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

// eventually waits until a condition holds that is bound to hold.
func eventually(t *testing.T, happens func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !happens(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it has not happened within a minute")
		}
	}
}

// A collection with much to do lets waiting processes have the lock between its jobs.
func TestCollectGivesWay(t *testing.T) {
	t.Parallel()
	l := odbtest.NewLines(t)
	l.Fill("refs/cairn/tracks/a", 2)
	for i := range 200 {
		odbtest.Commit(t, l.DB, fmt.Sprint("garbage ", i))
	}
	other := odbtest.Reopen(t, l.DB)
	var had atomic.Int32
	var others sync.WaitGroup
	out := collect(t, l.DB, Options{BeforeRemove: func(gone, left []string) error {
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
		eventually(t, l.LockWanted)
		return nil
	}})
	others.Wait()
	if n := had.Load(); n < 200/removalsAtOnce {
		t.Errorf("the other had the lock %d times", n)
	}
	if out.Dropped < 200 {
		t.Errorf("%+v", out)
	}
	l.Check(true)
}
