package cairn_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// uncapturedAgain makes files that a checkpoint holds, takes them away, and makes them
// once more where no capture holds them: one is ignored, one too large, one a symlink. It
// returns the checkpoints with and without them.
func uncapturedAgain(t *testing.T) (f *fixture, with, without string) {
	t.Helper()
	large := strings.Repeat("L", 3000)
	f = newFixture(t, gittest.Tree{"d/ignored": gittest.File("text"), "large": gittest.File(large), "other": gittest.File("x")})
	os.Symlink("other", f.path("d/link"))
	with = f.track().Checkpoint
	os.RemoveAll(f.path("d"))
	f.remove("large")
	without = f.track().Checkpoint
	f.write(".gitignore", "d\n")
	f.write("d/ignored", "text")
	f.write("large", large)
	os.Symlink("other", f.path("d/link"))
	f.opt.MaxFileSize = 2000
	return f, with, without
}

func TestV04_UncapturedButEqualIsLeftAlone(t *testing.T) {
	t.Parallel()
	paths := []string{"d/ignored", "d/link", "large"}
	ways := map[string]func(f *fixture, with, without string) (*cairn.Result, error){
		"restore": func(f *fixture, with, _ string) (*cairn.Result, error) {
			return f.repo().Restore(background, with, cairn.RestoreOptions{})
		},
		"restore of the paths": func(f *fixture, with, _ string) (*cairn.Result, error) {
			return f.repo().Restore(background, with, cairn.RestoreOptions{Paths: paths})
		},
		"revert of a range": func(f *fixture, with, without string) (*cairn.Result, error) {
			return f.repo().Revert(background, cairn.Range{From: with, To: without}, cairn.RevertOptions{})
		},
		"revert of a range, overwriting": func(f *fixture, with, without string) (*cairn.Result, error) {
			return f.repo().Revert(background, cairn.Range{From: with, To: without}, cairn.RevertOptions{OnConflict: cairn.Overwrite})
		},
		"revert of a patch": func(f *fixture, with, without string) (*cairn.Result, error) {
			patch, err := f.repo().Patch(background, with, without)
			if err != nil {
				return nil, err
			}
			return f.repo().RevertPatches(background, []cairn.Patch{patch}, cairn.RevertPatchesOptions{})
		},
	}
	for name, goBack := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, with, without := uncapturedAgain(t)
			before := make([]os.FileInfo, len(paths))
			for i, path := range paths {
				before[i], _ = os.Lstat(f.path(path))
			}
			res, err := goBack(f, with, without)
			if err != nil || !res.Complete() {
				t.Fatalf("%+v, %v", res, err)
			}
			for i, path := range paths {
				after, err := os.Lstat(f.path(path))
				if err != nil || !os.SameFile(before[i], after) || !after.ModTime().Equal(before[i].ModTime()) {
					t.Errorf("%s is not the same file any more: %v", path, err)
				}
				if slices.Contains(res.Restored, path) || slices.Contains(res.Deleted, path) {
					t.Errorf("%s is reported: %+v", path, res)
				}
			}
		})
	}
}

func TestV04_UncapturedOfEqualContentsGetsItsBits(t *testing.T) {
	t.Parallel()
	f, with, _ := uncapturedAgain(t)
	os.Chmod(f.path("d/ignored"), 0o755)
	before, err := os.Lstat(f.path("d/ignored"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := f.repo().Restore(background, with, cairn.RestoreOptions{Paths: []string{"d"}})
	if err != nil || !slices.Equal(res.Restored, []string{"d/ignored"}) {
		t.Fatalf("%+v, %v", res, err)
	}
	after, err := os.Lstat(f.path("d/ignored"))
	if err != nil || !os.SameFile(before, after) || after.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", after, err)
	}
	if res, err = f.repo().Undo(background, cairn.RevertOptions{}); err != nil || !res.Complete() {
		t.Fatalf("%+v, %v", res, err)
	}
	if after, err = os.Lstat(f.path("d/ignored")); err != nil || after.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", after, err)
	}
}
