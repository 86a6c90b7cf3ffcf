package cairn_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
)

// onlyLimit sets limits that no cleaning makes room for.
func onlyLimit(keep cairn.Retention) func(*cairn.Options) {
	return func(opt *cairn.Options) { opt.Retention, opt.NoClean = &keep, true }
}

// TestR61_Budget: a capture that would break the budget, or leave too little on the
// disk, fails before it has written, and the store is as it was.
func TestR61_Budget(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*cairn.Options){
		"budget":   onlyLimit(cairn.Retention{MaxBytes: 64 << 10, MinFree: cairn.NoLimit}),
		"min free": onlyLimit(cairn.Retention{MaxBytes: cairn.NoLimit, MinFree: 1 << 60}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("one")})
			first := f.trackAll()
			f.settle()
			f.trackAll()
			limit(&f.opt)
			if got := f.trackAll(); got != first {
				t.Error("an unchanged track writes nothing, and needs no space")
			}
			store := f.repo().StoreDir()
			before := gittest.Manifest(t, filepath.Join(store, "objects"))
			refs := gittest.Manifest(t, filepath.Join(store, "refs"))
			f.write("big", noise(1, 9<<20))
			f.write("small", noise(2, 100<<10))
			r := f.repo()
			full := bytesBelow(store) + 4<<20 // a way back may use half of what is free
			r.SetFreeSpace(func() (int64, error) { return full - bytesBelow(store), nil })
			_, err := r.Track(background, cairn.TrackOptions{})
			assertError(t, err, cairn.ErrNoSpace)
			_, err = r.Restore(background, first, cairn.RestoreOptions{})
			assertError(t, err, cairn.ErrNoSpace)
			gittest.AssertEqual(t, "the objects", before, gittest.Manifest(t, filepath.Join(store, "objects")))
			gittest.AssertEqual(t, "the refs", refs, gittest.Manifest(t, filepath.Join(store, "refs")))
			if !f.exists("small") {
				t.Error("the restore that found no space to save deleted a file")
			}
			f.opt.Retention = nil
			f.trackAll()
		})
	}
}

// bytesBelow is the size of all files below a directory, unfinished ones included.
func bytesBelow(dir string) (size int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

// TestR61_CleansFirst: before it fails, a capture asks for cleaning, once, without the
// lock, and then goes on.
func TestR61_CleansFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("one")})
	f.opt.Retention = &cairn.Retention{KeepLast: 7, MinFree: 1 << 60}
	r := f.repo()
	cleaned := 0
	r.SetClean(func(ctx context.Context, opt cairn.CleanOptions) (*cairn.CleanResult, error) {
		cleaned++
		if opt.KeepLast != 7 {
			t.Errorf("cleaned by %+v", opt)
		}
		r.SetMinFree(0)
		return &cairn.CleanResult{Freed: 1}, nil
	})
	if _, err := r.Track(background, cairn.TrackOptions{}); err != nil || cleaned != 1 {
		t.Errorf("%v after %d cleanings", err, cleaned)
	}
	r.SetMinFree(1 << 60)
	r.SetClean(func(context.Context, cairn.CleanOptions) (*cairn.CleanResult, error) {
		cleaned++
		return &cairn.CleanResult{}, nil
	})
	f.write("a", "two")
	_, err := r.Track(background, cairn.TrackOptions{})
	assertError(t, err, cairn.ErrNoSpace)
	if cleaned != 2 {
		t.Errorf("%d cleanings", cleaned)
	}
}

// TestR69_SmallDisk: a real file system that runs full in the middle of a capture.
func TestR69_SmallDisk(t *testing.T) {
	t.Parallel()
	disk := gittest.SmallDisk(t, 12<<20)
	f := newFixture(t, gittest.Tree{"a": gittest.File("one")})
	f.opt.DataDir = filepath.Join(disk, "data")
	first := f.trackAll()
	store := f.repo().StoreDir()
	f.write("big", noise(1, 9<<20))
	f.write("big2", noise(3, 9<<20))
	for _, free := range []int64{cairn.NoLimit, 4 << 20} {
		onlyLimit(cairn.Retention{MaxBytes: cairn.NoLimit, MinFree: free})(&f.opt)
		_, err := f.repo().Track(background, cairn.TrackOptions{})
		assertError(t, err, cairn.ErrNoSpace)
		if names, err := filepath.Glob(filepath.Join(store, "objects", "pack", "tmp_*")); err != nil || len(names) > 0 {
			t.Errorf("left behind: %v, %v", names, err)
		}
		gittest.NewOracle(t).Fsck(store)
		if text := readAt(t, f, first, "a"); text != "one" {
			t.Errorf("a is %q", text)
		}
	}
	os.Remove(f.path("big"))
	os.Remove(f.path("big2"))
	f.write("a", "two")
	f.opt.Retention = nil
	f.trackAll()
	f.restoreAll(first)
}

// TestR61_BudgetOfAnOpenRepo: a Repo that does not measure the store each time keeps to the budget
// like one that does, also when other processes write.
func TestR61_BudgetOfAnOpenRepo(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]bool{"alone": false, "beside others": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, gittest.Tree{"a": gittest.File("one")})
			onlyLimit(cairn.Retention{MaxBytes: 400 << 10, MinFree: cairn.NoLimit})(&f.opt)
			r := f.repo()
			track := func(who *cairn.Repo, i int) error {
				f.write("big", noise(i, 60<<10))
				_, err := who.Track(background, cairn.TrackOptions{})
				return err
			}
			for i := range 6 {
				who := r
				if others && i > 0 {
					who = f.repo()
				}
				if err := track(who, i); err != nil {
					t.Fatalf("track %d: %v", i, err)
				}
			}
			assertError(t, track(r, 6), cairn.ErrNoSpace)
			if size, err := retention.SizeOf(r.StoreDir()); err != nil || size > f.opt.Retention.MaxBytes {
				t.Errorf("%d bytes of %d, %v", size, f.opt.Retention.MaxBytes, err)
			}
			f.write("big", "small")
			if _, err := r.Track(background, cairn.TrackOptions{}); err != nil {
				t.Errorf("what fits: %v", err)
			}
		})
	}
}
