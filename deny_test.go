package cairn_test

import (
	"os"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

var secrets = gittest.Tree{
	"a": gittest.File("a"), "key.pem": gittest.File("K1"), "dir/KEY.PEM": gittest.File("K2"), "vault/x": gittest.File("x"), "vault/in/y": gittest.File("y"),
}

// TestR15_NeverIsNeverStored: a path on the deny list is not captured, even if it is held, named or
// tracked, and it is reported.
func TestR15_NeverIsNeverStored(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"from the start": false, "after it was captured": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, secrets)
			if before {
				f.trackAll()
				f.settle()
				f.trackAll() // from now on the stats are trusted
			}
			f.opt.Never, f.opt.Include = []string{"*.pem", "vault/"}, []string{"*.pem"}
			for _, opt := range []cairn.TrackOptions{{}, {Paths: []string{"key.pem", "vault/x"}}, {OnlyPaths: true, Paths: []string{"key.pem", "a", "dir"}}} {
				got, err := f.repo().Track(background, opt)
				if err != nil {
					t.Fatal(err)
				}
				for _, path := range []string{"key.pem", "dir/KEY.PEM", "vault/x", "vault/in/y"} {
					if ok, err := f.repo().Exists(background, got.Checkpoint, path); ok || err != nil {
						t.Errorf("%s is captured (%v)", path, err)
					}
				}
				skippedAs(t, got.Skipped, "key.pem", "denied")
				if !opt.OnlyPaths {
					skippedAs(t, got.Skipped, "dir/KEY.PEM", "denied")
					skippedAs(t, got.Skipped, "vault", "denied")
				}
			}
			f.opt.Never = nil
			got := f.trackAll()
			if ok, err := f.repo().Exists(background, got, "vault/in/y"); !ok || err != nil {
				t.Errorf("the list has gone, and vault/in/y is not captured (%v)", err)
			}
		})
	}
}

// TestR15_NeverIsNeverTouched: an operation that would have to save a denied path first
// leaves it alone and says so.
func TestR15_NeverIsNeverTouched(t *testing.T) {
	t.Parallel()
	f := newFixture(t, secrets)
	old := f.trackAll()
	f.opt.Never = []string{"*.pem"}
	f.write("key.pem", "rotated")
	f.write("new.pem", "new")
	f.write("a", "edited")
	f.remove("dir/KEY.PEM")
	res := f.restore(old)
	keptAs(t, res, "key.pem", "never stored")
	keptAs(t, res, "dir/KEY.PEM", "never stored")
	keptAs(t, res, "new.pem", "denied")
	if f.read("a") != "a" || f.read("key.pem") != "rotated" || f.read("new.pem") != "new" || f.exists("dir/KEY.PEM") {
		t.Error("a denied path was touched, or the rest was not")
	}
	// By its name a path that nothing stands at comes back.
	if res := f.restore(old, "dir/KEY.PEM"); !res.Complete() || f.read("dir/KEY.PEM") != "K2" {
		t.Errorf("%+v", res)
	}
	res = f.restore(old, "key.pem")
	keptAs(t, res, "key.pem", "never stored")
	if res, err := f.repo().Undo(background, cairn.RevertOptions{}); err != nil || f.read("dir/KEY.PEM") != "K2" {
		t.Errorf("undo %+v, %v", res, err)
	}
	// A path that is in the way of a file to restore stays, too.
	f.remove("a")
	f.write("a/x.pem", "in the way")
	f.restore(old)
	if f.read("a/x.pem") != "in the way" {
		t.Error("a denied file was in the way, and is gone")
	}
	for _, text := range []string{"rotated", "new", "in the way"} {
		if holdsBlob(t, f, text) {
			t.Errorf("%q is in the store", text)
		}
	}
}

func keptAs(t *testing.T, res *cairn.Result, path, reason string) {
	t.Helper()
	for _, k := range res.Kept {
		if string(k.Path) == path && strings.Contains(k.Reason, reason) {
			return
		}
	}
	t.Errorf("%s is not kept because of %q: %+v", path, reason, res)
}

// holdsBlob reports whether the store has a blob of that text.
func holdsBlob(t *testing.T, f *fixture, text string) bool {
	t.Helper()
	o := gittest.NewOracle(t)
	id := strings.TrimSpace(o.Feed(f.root, text, "hash-object", "--stdin"))
	return strings.Contains(o.In(f.repo().StoreDir(), "cat-file", "--batch-all-objects", "--batch-check"), id)
}

// TestR15_StoreIsPrivate: other users cannot read captured files.
// TestR15_UndoOfADeniedDirectory: a directory on the deny list that an operation made goes with the undo, and comes back
// with the redo, unless something else has come into it.
func TestR15_UndoOfADeniedDirectory(t *testing.T) {
	t.Parallel()
	for name, tree := range map[string]gittest.Tree{
		"empty":      {"a": gittest.File("a"), "vault": gittest.Dir()},
		"with files": secrets,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, tree)
			old := f.trackAll()
			f.opt.Never = []string{"vault/"}
			if err := os.RemoveAll(f.path("vault")); err != nil {
				t.Fatal(err)
			}
			f.write("a", "b")
			f.track()
			before := f.manifest()
			f.restore(old)
			after := f.manifest()
			for range 2 {
				f.undo(cairn.RevertOptions{})
				gittest.AssertEqual(t, "after the undo", before, f.manifest())
				f.redo()
				gittest.AssertEqual(t, "after the redo", after, f.manifest())
			}
			f.write("vault/mine", "mine")
			f.undo(cairn.RevertOptions{})
			if f.read("vault/mine") != "mine" || f.read("a") != "b" {
				t.Error("the undo did not leave what came into the directory, or did nothing")
			}
		})
	}
}

// TestR15_UndoOfADeniedFile: a file on the deny list that a restore has brought back by its name cannot be saved. An undo
// leaves it and says so.
func TestR15_UndoOfADeniedFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t, secrets)
	old := f.trackAll()
	f.opt.Never = []string{"*.pem"}
	f.remove("key.pem")
	f.track()
	f.restore(old, "key.pem", "a")
	for _, opt := range []cairn.RevertOptions{{DryRun: true}, {DryRun: true, Paths: []string{"key.pem"}}, {}} {
		res := f.undo(opt)
		if len(res.Kept) != 1 || res.Kept[0].Path != "key.pem" || !strings.Contains(res.Kept[0].Reason, "never stored") || f.read("key.pem") != "K1" {
			t.Errorf("%+v: %+v", opt, res)
		}
	}
}

func TestR15_StoreIsPrivate(t *testing.T) {
	t.Parallel()
	f := newFixture(t, secrets)
	f.trackAll()
	info, err := os.Stat(f.repo().StoreDir())
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
