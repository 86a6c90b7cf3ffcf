package cairn_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
)

const rollBudget = 600 << 10

// roller is a root whose store is at its budget after a few tracks.
type roller struct {
	*fixture
	repo *cairn.Repo // that stays open
	ids  []string
}

// limits are the two ways in which a store can be too large.
var limits = map[string]func(f *fixture){
	"max_bytes": func(f *fixture) {
		f.opt.Retention = &cairn.Retention{KeepLast: 3, MaxBytes: rollBudget, MinFree: cairn.NoLimit}
	},
	"min_free": func(f *fixture) {
		f.opt.Retention = &cairn.Retention{KeepLast: 3, MaxBytes: cairn.NoLimit, MinFree: 1 << 30}
	},
}

func newRoller(t *testing.T, limit func(*fixture)) *roller {
	t.Helper()
	f := &roller{fixture: newFixture(t, gittest.Tree{"same": gittest.File("the same all the time")})}
	limit(f.fixture)
	f.repo = f.open()
	return f
}

// open opens the store on a disk that has room for it up to rollBudget.
func (f *roller) open() *cairn.Repo {
	f.Helper()
	r := f.fixture.repo()
	r.SetFreeSpace(func() (int64, error) {
		size, err := retention.SizeOf(r.StoreDir())
		return 1<<30 + rollBudget - size, err
	})
	return r
}

func (f *roller) track(r *cairn.Repo) error {
	f.write("a", noise(len(f.ids)+1, 60<<10))
	got, err := r.Track(background, cairn.TrackOptions{})
	if err == nil {
		f.ids = append(f.ids, got.Checkpoint)
	}
	return err
}

// rolled checks a store that has rolled: the newest are there, with the ids that they
// have had, the oldest are not, and git agrees.
func (f *roller) rolled(least int) {
	f.Helper()
	if size, err := retention.SizeOf(f.repo.StoreDir()); err != nil || size > rollBudget {
		f.Errorf("%d bytes of %d, %v", size, int64(rollBudget), err)
	}
	first := 0
	for first < len(f.ids) && !f.has(f.ids[first]) {
		first++
	}
	if kept := len(f.ids) - first; first == 0 || kept < least {
		f.Errorf("%d of %d checkpoints are left", kept, len(f.ids))
	}
	for i := first; i < len(f.ids); i++ {
		if text := readAt(f.T, f.fixture, f.ids[i], "a"); text != noise(i+1, 60<<10) {
			f.Errorf("checkpoint %d holds something else", i)
		}
	}
	f.sound()
	if found, err := f.fixture.repo().Check(background, cairn.CheckOptions{}); err != nil || len(found) > 0 {
		f.Errorf("doctor: %+v, %v", found, err)
	}
	f.restoreAll(f.ids[first])
	if f.read("a") != noise(first+1, 60<<10) {
		f.Error("going back to the oldest that is left brought something else")
	}
}

// TestV10_StoreAtItsBudgetRolls: the oldest checkpoints go until a new one fits, inside one
// day's line, by the real cleaner.
func TestV10_StoreAtItsBudgetRolls(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, limit := range limits {
		for who, stays := range map[string]bool{"open": true, "fresh": false} {
			t.Run(name+"/"+who, func(t *testing.T) {
				t.Parallel()
				f := newRoller(t, limit)
				for i := range 30 {
					r := f.repo
					if !stays {
						r = f.open()
					}
					if err := f.track(r); err != nil {
						t.Fatalf("track %d: %v", i, err)
					}
				}
				f.rolled(5)
			})
		}
	}
}

// TestV10_RollingIsAmortised: a cleaning makes room for several tracks.
func TestV10_RollingIsAmortised(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, limit := range limits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newRoller(t, func(f *fixture) { limit(f); f.write("a", "") })
			cleanings := f.repo.CountCleanings()
			track := func(i int) {
				f.write("a", noise(i, 10<<10))
				if _, err := f.repo.Track(background, cairn.TrackOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 120 {
				track(i)
			}
			if n := cleanings(); n == 0 || n > 20 {
				t.Errorf("%d cleanings in 120 tracks", n)
			}
		})
	}
}

// TestV10_OnlyPinsAndTheNewestMakeACaptureFail: then nothing goes, and the message names
// what holds the store and the next step.
func TestV10_OnlyPinsAndTheNewestMakeACaptureFail(t *testing.T) {
	t.Parallel()
	for name, limit := range limits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newRoller(t, limit)
			pins, err := 0, error(nil)
			for ; err == nil && pins < 20; pins++ {
				if err = f.track(f.repo); err == nil {
					err = f.repo.Pin(background, "@", fmt.Sprintf("good-%d", pins))
				}
			}
			assertError(t, err, cairn.ErrNoSpace)
			for _, want := range []string{"good-0", "cairn unpin", "keep_last", name} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not name %s", err, want)
				}
			}
			for _, id := range f.ids {
				if !f.has(id) {
					t.Errorf("checkpoint %s went for nothing", id)
				}
			}
			if err := f.repo.Unpin(background, "good-0"); err != nil {
				t.Fatal(err)
			}
			if err := f.repo.Unpin(background, "good-1"); err != nil {
				t.Fatal(err)
			}
			if err := f.track(f.repo); err != nil {
				t.Errorf("after pins were taken away: %v", err)
			}
			f.sound()
		})
	}
}

// TestV10_WhatNeverFitsDropsNothing: a capture that is larger than the budget fails, and
// the history is as it was.
func TestV10_WhatNeverFitsDropsNothing(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	step := map[string]string{"max_bytes": "raise max_bytes", "min_free": "lower keep_last"}
	for name, limit := range limits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newRoller(t, limit)
			for range 6 {
				if err := f.track(f.repo); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 12 {
				f.write(fmt.Sprintf("big%d", i), noise(100+i, 1<<20))
			}
			f.write("huge", noise(99, 9<<20))
			_, err := f.repo.Track(background, cairn.TrackOptions{})
			assertError(t, err, cairn.ErrNoSpace)
			if !strings.Contains(err.Error(), step[name]) {
				t.Errorf("%v", err)
			}
			for i, id := range f.ids {
				if !f.has(id) {
					t.Errorf("checkpoint %d went for nothing", i)
				}
			}
			f.sound()
		})
	}
}

// TestV10_OperationsRoll: ways back are checkpoints, too, and so are the states that they
// leave behind.
func TestV10_OperationsRoll(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, limit := range limits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newRoller(t, limit)
			for i := range 20 {
				if err := f.track(f.repo); err != nil {
					t.Fatalf("track %d: %v", i, err)
				}
				if i == 0 {
					continue
				}
				f.write("b", noise(1000+i, 20<<10)) // in no checkpoint but that before the restore
				if _, err := f.repo.Restore(background, f.ids[len(f.ids)-2], cairn.RestoreOptions{}); err != nil {
					t.Fatalf("restore %d: %v", i, err)
				}
			}
			n := 0
			for _, err := range f.repo.Operations(background) {
				if n++; err != nil {
					t.Fatal(err)
				}
			}
			if n == 0 || n == 19 {
				t.Errorf("%d operations are left", n)
			}
			if _, err := f.repo.Undo(background, cairn.RevertOptions{}); err != nil {
				t.Errorf("undo: %v", err)
			}
			f.sound()
		})
	}
}

// TestV10_SmallDisk: a disk that is full indeed.
func TestV10_SmallDisk(t *testing.T) {
	t.Parallel()
	disk := gittest.SmallDisk(t, 4<<20)
	f := &roller{fixture: newFixture(t, gittest.Tree{"same": gittest.File("same")})}
	f.opt.DataDir = filepath.Join(disk, "data")
	f.opt.Retention = &cairn.Retention{KeepLast: 2, MaxBytes: cairn.NoLimit, MinFree: 1 << 20}
	r := f.fixture.repo()
	for i := range 60 {
		f.write("a", noise(i, 150<<10))
		if _, err := r.Track(background, cairn.TrackOptions{}); err != nil {
			t.Fatalf("track %d: %v", i, err)
		}
	}
	gittest.NewOracle(t).Fsck(r.StoreDir())
}

// TestV10_ACaptureWaitsForACleaningOfAnother: the other's room serves it.
func TestV10_ACaptureWaitsForACleaningOfAnother(t *testing.T) {
	t.Parallel()
	f := newRoller(t, limits["max_bytes"])
	errs := make(chan error, 4)
	for who := range cap(errs) {
		r := f.open()
		go func() {
			var err error
			for i := 0; i < 12 && err == nil; i++ {
				f.write(fmt.Sprintf("of%d", who), noise(100*who+i, 20<<10))
				_, err = r.Track(background, cairn.TrackOptions{})
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	f.sound()
}

// crashBudget is what the store of a killed process may have.
const crashBudget = 400 << 10

func limitedTo(bytes int64) *cairn.Retention {
	return &cairn.Retention{KeepLast: 2, MaxBytes: bytes, MinFree: cairn.NoLimit}
}

// TestV10_KilledWhileItRolls kills a track that makes room before each of its write-type
// system calls: the store is sound, nothing of the newest is lost, and the next track
// rolls.
func TestV10_KilledWhileItRolls(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("0")})
	f.opt.Retention = limitedTo(crashBudget)
	var ids []string
	track := func(i int) {
		f.write("a", noise(i, 40<<10))
		got, err := f.repo().Track(background, cairn.TrackOptions{})
		if err != nil {
			f.Fatal(err)
		}
		ids = append(ids, got.Checkpoint)
	}
	room := func() int64 {
		size, err := retention.SizeOf(f.repo().StoreDir())
		if err != nil {
			f.Fatal(err)
		}
		return crashBudget - size
	}
	track(0)
	for i := 1; room() > 42<<10; i++ {
		track(i)
	}
	f.closeAll()
	f.write("a", noise(1000, 40<<10))
	c := &crashRun{fixture: f, oracle: gittest.NewOracle(t), pristine: t.TempDir(), before: ids[0]}
	gittest.CopyTree(t, c.root, filepath.Join(c.pristine, "root"))
	gittest.CopyTree(t, c.data, filepath.Join(c.pristine, "data"))
	check := func(when string) {
		c.oracle.Fsck(cairn.StorePath(f.data, mustEval(f.T, f.root)))
		for i := len(ids) - 2; i < len(ids); i++ {
			if text := readAt(t, f, ids[i], "a"); text != noise(i, 40<<10) {
				t.Errorf("%s: checkpoint %d is something else", when, i)
			}
		}
		if _, err := f.repo().Track(background, cairn.TrackOptions{}); err != nil {
			t.Errorf("%s: the next track: %v", when, err)
		}
		f.closeAll()
	}
	gittest.Killed(t, 3*gittest.Stride(), func(n int) gittest.Crash {
		c.reset()
		return gittest.KillAt(t, []string{os.Args[0]}, c.env("roll"), gittest.WriteCalls, n)
	}, check)
	check("undisturbed")
	if f.has(ids[0]) {
		t.Error("nothing had to go")
	}
	f.closeAll()
}

// TestV18_OneSize: a cleaning, a look at the usage and the store itself tell one number:
// that of all its files.
func TestV18_OneSize(t *testing.T) {
	t.Parallel()
	f := newAged(t)
	for i := range 6 {
		f.trackAgo(time.Duration(60-i)*time.Millisecond, noise(i, 1000))
	}
	f.settle()
	got := f.clean(cairn.CleanOptions{Retention: cairn.Retention{KeepLast: 1, MaxCount: 3}, Thorough: true})
	r := f.repo()
	size, err := retention.SizeOf(r.StoreDir())
	if err != nil {
		t.Fatal(err)
	}
	use, err := r.Usage(background)
	if err != nil {
		t.Fatal(err)
	}
	dry, err := r.Clean(background, cairn.CleanOptions{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if got.Size != size || use.Size != size || dry.Size != size {
		t.Errorf("a cleaning says %d, the store %d, its usage %d, a dry run %d", got.Size, size, use.Size, dry.Size)
	}
	var sum int64
	err = filepath.WalkDir(r.StoreDir(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				sum += info.Size()
			}
		}
		return err
	})
	if err != nil || sum != size {
		t.Errorf("the files have %d bytes, the store %d, %v", sum, size, err)
	}
}
