package cairn_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// keeper is a Repo that stays open, and so keeps the stat cache.
type keeper struct {
	*fixture
	r *cairn.Repo
}

func newKeeper(t *testing.T) *keeper {
	t.Helper()
	f := newFixture(t, gittest.Tree{"a": gittest.File("one\n"), "dir/b": gittest.File("two\n"), "dir/sub/c": gittest.File("three\n")})
	k := &keeper{f, f.repo()}
	k.same("first")
	return k
}

// same: it has the id that a new Repo with a store of its own finds.
func (k *keeper) same(when string) {
	k.Helper()
	got, err := k.r.Track(k.Context(), cairn.TrackOptions{})
	if err != nil {
		k.Fatalf("%s: %v", when, err)
	}
	fresh := k.freshStore()
	defer fresh.Close()
	want, err := fresh.Track(k.Context(), cairn.TrackOptions{})
	if err != nil || got.Hash != want.Hash || got.Files != want.Files {
		k.Errorf("%s: %s with %d files, want %s with %d (%v)", when, got.Hash, got.Files, want.Hash, want.Files, err)
	}
	if ok, err := k.r.Exists(k.Context(), got.Hash, "dir/sub/c"); err != nil || !ok {
		k.Errorf("%s: %s has no dir/sub/c (%v)", when, got.Hash, err)
	}
	if res, err := k.r.Restore(k.Context(), got.Hash, cairn.RestoreOptions{}); err != nil || !res.Complete() {
		k.Errorf("%s: %+v, %v", when, res, err)
	}
}

// TestKeptIndex: a Repo that stays open reads its stat cache once.
func TestKeptIndex(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	kept := k.r.Kept()
	if kept == nil {
		t.Fatal("nothing is kept")
	}
	for i := range 3 {
		k.write("dir/b", string(rune('a'+i)))
		k.same("edit")
		k.same("unchanged")
		if k.r.Kept() != kept {
			t.Error("read again")
		}
	}
}

// TestKeptIndexOfOthers: what others did to the store or the stat cache counts.
func TestKeptIndexOfOthers(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(k *keeper){
		"another Repo tracks":   func(k *keeper) { k.write("dir/b", "other\n"); k.track() },
		"another Repo restores": func(k *keeper) { before := k.track().Hash; k.write("a", "new"); k.track(); k.restoreAll(before) },
		"the stat cache is removed": func(k *keeper) {
			os.Remove(filepath.Join(k.indexDir(), "index"))
			os.Remove(filepath.Join(k.indexDir(), "index.delta"))
		},
		"the stat cache is damaged": func(k *keeper) {
			os.WriteFile(filepath.Join(k.indexDir(), "index"), []byte("no stat cache"), 0o600)
		},
		"the packs are removed": func(k *keeper) {
			packs, _ := filepath.Glob(filepath.Join(k.r.StoreDir(), "objects", "pack", "*"))
			for _, path := range packs {
				os.Remove(path)
			}
			refs, _ := filepath.Glob(filepath.Join(k.r.StoreDir(), "refs", "cairn", "*"))
			for _, path := range refs {
				os.RemoveAll(path)
			}
		},
		"old checkpoints go": func(k *keeper) {
			k.write("a", "later\n")
			k.track()
			if _, err := k.repo().Clean(k.Context(), cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 1, KeepLast: 1}, Thorough: true}); err != nil {
				k.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeeper(t)
			kept := k.r.Kept()
			do(k)
			k.write("dir/sub/c", "after\n")
			k.same("after it")
			if k.r.Kept() == kept {
				t.Error("the stat cache was not read again")
			}
		})
	}
}

// TestKeptIndexOfAFailure: a capture that fails half way leaves none behind, and the next
// goes by what is on the disk.
func TestKeptIndexOfAFailure(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	ended, end := context.WithCancel(t.Context())
	end()
	for name, ctx := range map[string]context.Context{"context ended": ended, "no time": over} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper(t)
			k.write("a", "unseen\n")
			k.write("dir/new", "unseen\n")
			k.remove("dir/b")
			if _, err := k.r.Track(ctx, cairn.TrackOptions{}); err == nil {
				t.Fatal("no error")
			}
			k.same("after a failure")
		})
	}
}

// foldStatCache writes the whole stat cache as a new base.
func foldStatCache(f *fixture) {
	f.Helper()
	file := index.File{Base: filepath.Join(f.indexDir(), "index"), Delta: filepath.Join(f.indexDir(), "index.delta")}
	x, err := index.Load(file)
	if err == nil {
		err = x.Fold(file)
	}
	if err != nil {
		f.Fatal(err)
	}
}
