package cairn

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
)

// newSaved is a store with one checkpoint of two directories, and an edit since then.
func newSaved(t *testing.T) (opt Options, before *TrackResult, edited object.ID) {
	t.Helper()
	opt = Options{Root: t.TempDir(), DataDir: t.TempDir(), NoSync: true}
	put := func(path, text string) {
		file := filepath.Join(opt.Root, path)
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("a/deep/f", "one\n")
	put("b/f", "one\n")
	before, err := reopened(t, opt).Track(context.Background(), TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	put("a/deep/f", "edited since\n")
	return opt, before, object.Sum(object.Blob, []byte("edited since\n"))
}

func reopened(t *testing.T, opt Options) *Repo {
	t.Helper()
	r, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// savedID is what the stat cache on the disk has of the edited file.
func savedID(t *testing.T, r *Repo) object.ID {
	t.Helper()
	x, err := index.Load(r.capturer.IndexFile())
	if err != nil {
		t.Fatal(err)
	}
	rec := x.Lookup("a/deep/f")
	if rec == nil {
		t.Fatal("not in the stat cache")
	}
	return rec.ID()
}

// TestStatCacheAfterOperations: the stat cache is saved with the state after an operation, and also
// if no operation came about, so that the next capture need not read everything again.
func TestStatCacheAfterOperations(t *testing.T) {
	t.Parallel()
	original := object.Sum(object.Blob, []byte("one\n"))
	for name, tc := range map[string]struct {
		opt    RestoreOptions
		saves  bool // of the edited file
		denied error
	}{
		"restored":        {},
		"dry run":         {opt: RestoreOptions{DryRun: true}, saves: true},
		"another plan":    {opt: RestoreOptions{Plan: "0123456789abcdef"}, saves: true, denied: ErrMoved},
		"nothing there":   {opt: RestoreOptions{Paths: []string{"none"}}, saves: true, denied: ErrNotFound},
		"nothing differs": {opt: RestoreOptions{Paths: []string{"b"}}, saves: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt, before, edited := newSaved(t)
			r := reopened(t, opt)
			if _, err := r.Restore(context.Background(), before.Hash, tc.opt); !errors.Is(err, tc.denied) {
				t.Fatal(err)
			}
			want := original
			if tc.saves {
				want = edited
			}
			if got := savedID(t, r); got != want {
				t.Errorf("the stat cache has %s, want %s", got, want)
			}
			again, err := reopened(t, opt).Track(context.Background(), TrackOptions{})
			if err != nil || (again.Hash == before.Hash) == tc.saves {
				t.Errorf("tracked %+v, %v", again, err)
			}
		})
	}
}

// TestPlanReadsNoTreeThatWasCached: going back to what was captured last needs no tree
// from the store, and to anything else only those that are in neither state of the cache.
func TestPlanReadsNoTreeThatWasCached(t *testing.T) {
	t.Parallel()
	opt, before, _ := newSaved(t)
	trees := func(r *Repo, hash string) (ids []object.ID) {
		t.Helper()
		c, err := r.Lookup(context.Background(), hash)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"a", "a/deep"} { // rules are looked for in the root's
			e, err := r.store.TreeEntry(history.TreeOf(c), path)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, e.ID)
		}
		return ids
	}
	read := func(r *Repo, ids []object.ID) (n int) {
		for _, id := range ids {
			if _, ok := r.store.Trees.Get(id); ok {
				n++
			}
		}
		return n
	}
	old := trees(reopened(t, opt), before.Hash)
	r := reopened(t, opt)
	res, err := r.Restore(context.Background(), before.Hash, RestoreOptions{})
	if err != nil || len(res.Restored) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if n := read(r, old); n != 0 {
		t.Errorf("%d of %d trees were read", n, len(old))
	}
	r = reopened(t, opt)
	if res, err = r.Undo(context.Background(), RevertOptions{}); err != nil || len(res.Restored) != 1 {
		t.Fatalf("undo: %+v, %v", res, err)
	}
	data, err := os.ReadFile(filepath.Join(opt.Root, "a/deep/f"))
	if err != nil || string(data) != "edited since\n" {
		t.Fatalf("undone: %q, %v", data, err)
	}
}

// TestStatCacheAfterTakingBack: the same of what a session takes back.
func TestStatCacheAfterTakingBack(t *testing.T) {
	t.Parallel()
	for _, dry := range []bool{true, false} {
		opt, before, edited := newSaved(t)
		r, ctx := reopened(t, opt), context.Background()
		var made *operation.LineEvent
		var res *Result
		err := access.Lines(r).Update(ctx, func(u *operation.LineUpdate) (err error) {
			if made, err = u.Append(ctx, "s", operation.LineAppend{Capture: true, Record: []byte(`{}`)}); err != nil {
				return err
			}
			step := operation.UndoneStep{Step: operation.Step{From: before.Checkpoint, To: made.Checkpoint.ID}}
			u.ForgetDisk()
			if err := os.WriteFile(filepath.Join(opt.Root, "b/f"), []byte("somebody else's\n"), 0o644); err != nil {
				return err
			}
			back, err := u.TakeBack(ctx, "s", operation.TakeBack{Kind: "revert", Record: []byte(`{}`), Steps: []operation.UndoneStep{step}, DryRun: dry})
			if err == nil {
				res = back.Result
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if !dry {
			edited = object.Sum(object.Blob, []byte("one\n"))
		}
		x, err := index.Load(r.capturer.IndexFile())
		if err != nil {
			t.Fatal(err)
		}
		theirs := object.Sum(object.Blob, []byte("somebody else's\n"))
		if got := savedID(t, r); got != edited || x.Lookup("b/f").ID() != theirs {
			t.Errorf("dry run %t: the stat cache has %s and %s, want %s and %s; %+v", dry, got, x.Lookup("b/f").ID(), edited, theirs, res)
		}
	}
}

// TestTakeBackWithAnOldStatCache: an old stat cache is put back between the capture and the recording,
// which then reads more than what was changed.
func TestTakeBackWithAnOldStatCache(t *testing.T) {
	t.Parallel()
	opt, before, _ := newSaved(t)
	r, ctx := reopened(t, opt), context.Background()
	f := r.capturer.IndexFile()
	err := access.Lines(r).Update(ctx, func(u *operation.LineUpdate) error {
		made, err := u.Append(ctx, "s", operation.LineAppend{Capture: true, Record: []byte(`{}`)})
		if err != nil {
			return err
		}
		old := t.TempDir()
		if err := os.CopyFS(old, os.DirFS(filepath.Dir(f.Base))); err != nil {
			return err
		}
		u.ForgetDisk()
		if err := os.WriteFile(filepath.Join(opt.Root, "b/f"), []byte("somebody else's\n"), 0o644); err != nil {
			return err
		}
		if _, err := u.Changes(ctx, made.Checkpoint.ID, nil); err != nil {
			return err
		}
		for _, path := range []string{f.Base, f.Delta} {
			os.Remove(path)
			if err := os.Rename(filepath.Join(old, filepath.Base(path)), path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		step := operation.UndoneStep{Step: plan.Step{From: before.Checkpoint, To: made.Checkpoint.ID}}
		_, err = u.TakeBack(ctx, "s", operation.TakeBack{Kind: "revert", Record: []byte(`{}`), Steps: []operation.UndoneStep{step}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tip, err := access.Lines(r).Tip("s")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a/deep/f": "one\n", "b/f": "somebody else's\n"} {
		_, in, err := r.OpenFile(ctx, tip.Checkpoint.ID, path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil || string(got) != want {
			t.Errorf("%s is %q after it, want %q (%v)", path, got, want, err)
		}
	}
}

// TestTrackAfterRestoreReadsNoTree: how many paths have changed since the last checkpoint is
// known from the restore.
func TestTrackAfterRestoreReadsNoTree(t *testing.T) {
	t.Parallel()
	opt, before, _ := newSaved(t)
	r := reopened(t, opt)
	tip, err := r.Track(context.Background(), TrackOptions{})
	if err == nil {
		_, err = r.Restore(context.Background(), before.Hash, RestoreOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	r = reopened(t, opt)
	after, err := r.Track(context.Background(), TrackOptions{})
	if err != nil || after.Changed != 1 || after.Hash != before.Hash {
		t.Fatalf("%+v, %v", after, err)
	}
	for _, hash := range []string{tip.Hash, after.Hash} {
		id, err := object.ParseID(hash)
		if err != nil {
			t.Fatal(err)
		}
		if _, read := r.store.Trees.Get(id); read {
			t.Errorf("tree %s was read", hash)
		}
	}
}
