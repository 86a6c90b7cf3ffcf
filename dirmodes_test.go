package cairn_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// dirModes are changes of the bits of directories: of all, of most, so that the common
// bits become others, of few, and of the only one. An empty directory is among them.
var dirModes = map[string]struct{ all, changed []string }{
	"all":      {[]string{"a", "a/sub", "b", "empty"}, []string{"a", "a/sub", "b", "empty"}},
	"most":     {[]string{"a", "a/sub", "b", "empty"}, []string{"a", "a/sub", "empty"}},
	"few":      {[]string{"a", "a/sub", "b", "empty"}, []string{"empty"}},
	"only one": {[]string{"a"}, []string{"a"}},
}

// chmodded makes directories, changes the bits of some, and returns the checkpoints before
// and after.
func chmodded(t *testing.T, all, changed []string) (f *fixture, before, after string) {
	t.Helper()
	f = newFixture(t, gittest.Tree{"a/f": gittest.File("x")})
	for _, dir := range all {
		os.MkdirAll(f.path(dir), 0o755)
		if dir != "empty" {
			f.write(dir+"/f", "x")
		}
	}
	before = f.track().Checkpoint
	f.chmodAll(changed, 0o700)
	return f, before, f.track().Checkpoint
}

func (f *fixture) chmodAll(dirs []string, perm os.FileMode) {
	f.Helper()
	for _, dir := range dirs {
		if err := os.Chmod(f.path(dir), perm); err != nil {
			f.Fatal(err)
		}
	}
}

func (f *fixture) assertPerm(what string, dirs []string, perm os.FileMode) {
	f.Helper()
	for _, dir := range dirs {
		if info, err := os.Stat(f.path(dir)); err != nil || info.Mode().Perm() != perm {
			f.Errorf("%s: %s is %v, %v, want %v", what, dir, info.Mode().Perm(), err, perm)
		}
	}
}

func TestV03_DirectoryModesAreListed(t *testing.T) {
	t.Parallel()
	for name, mode := range dirModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, before, after := chmodded(t, mode.all, mode.changed)
			list, err := f.repo().Changes(background, before, after)
			if err != nil {
				t.Fatal(err)
			}
			var paths []string
			for _, c := range list {
				paths = append(paths, c.Path)
				if c.Status != cairn.Modified || c.OldPerm != 0o755 || c.NewPerm != 0o700 || c.Letter() != "M" {
					t.Errorf("%+v", c)
				}
			}
			if !slices.Equal(paths, mode.changed) {
				t.Errorf("changes %q, want %q", paths, mode.changed)
			}
			patch, err := f.repo().Patch(background, before, after)
			if err != nil || len(patch.Files) != len(mode.changed) || filepath.Base(patch.Files[0]) != filepath.Base(mode.changed[0]) {
				t.Errorf("patch %q, %v", patch.Files, err)
			}
			var text strings.Builder
			if err := f.repo().Diff(background, &text, before, after, cairn.DiffOptions{}); err != nil || text.Len() > 0 {
				t.Errorf("diff %q, %v", text.String(), err)
			}
			files := 0
			for d, err := range f.repo().DiffFull(background, before, after, cairn.DiffOptions{}) {
				if files++; err != nil || d.Status != cairn.Modified || d.Patch != "" || d.Note != "" {
					t.Errorf("%+v, %v", d, err)
				}
			}
			if files != len(mode.changed) {
				t.Errorf("%d in the full diff", files)
			}
		})
	}
}

func TestV03_DirectoryModesGoBackAndForth(t *testing.T) {
	t.Parallel()
	ways := map[string]func(f *fixture, before, after string) (*cairn.Result, error){
		"restore": func(f *fixture, before, _ string) (*cairn.Result, error) {
			return f.repo().Restore(background, before, cairn.RestoreOptions{})
		},
		"revert of a range": func(f *fixture, before, after string) (*cairn.Result, error) {
			return f.repo().Revert(background, cairn.Range{From: before, To: after}, cairn.RevertOptions{})
		},
		"revert of a patch": func(f *fixture, before, after string) (*cairn.Result, error) {
			patch, err := f.repo().Patch(background, before, after)
			if err != nil {
				return nil, err
			}
			return f.repo().RevertPatches(background, []cairn.Patch{patch}, cairn.RevertPatchesOptions{})
		},
	}
	for name, mode := range dirModes {
		for way, goBack := range ways {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				f, before, after := chmodded(t, mode.all, mode.changed)
				f.write("a/later", "somebody else's")
				if way == "restore" {
					f.remove("a/later")
				}
				res, err := goBack(f, before, after)
				if err != nil || !res.Complete() || !slices.Equal(res.Restored, mode.changed) || len(res.Deleted) > 0 {
					t.Fatalf("%+v, %v", res, err)
				}
				f.assertPerm("back", mode.all, 0o755)
				if way != "restore" && !f.exists("a/later") {
					t.Error("a file that is not in the change is gone")
				}
				if res, err = f.repo().Undo(background, cairn.RevertOptions{}); err != nil || !slices.Equal(res.Restored, mode.changed) {
					t.Fatalf("%+v, %v", res, err)
				}
				f.assertPerm("undone", mode.changed, 0o700)
				if res, err = f.repo().Redo(background, cairn.RevertOptions{}); err != nil || !slices.Equal(res.Restored, mode.changed) {
					t.Fatalf("%+v, %v", res, err)
				}
				f.assertPerm("redone", mode.all, 0o755)
			})
		}
	}
}

// TestV03_LaterDirectoryModesStay treats bits that were changed later as the policy says.
func TestV03_LaterDirectoryModesStay(t *testing.T) {
	t.Parallel()
	for policy, want := range map[cairn.Policy]os.FileMode{cairn.Merge: 0o711, cairn.Keep: 0o711, cairn.Overwrite: 0o755} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			f, before, after := chmodded(t, []string{"a", "b"}, []string{"a", "b"})
			f.chmodAll([]string{"b"}, 0o711)
			res, err := f.repo().Revert(background, cairn.Range{From: before, To: after}, cairn.RevertOptions{OnConflict: policy})
			if err != nil || res.Complete() != (policy == cairn.Overwrite) {
				t.Fatalf("%+v, %v", res, err)
			}
			f.assertPerm("back", []string{"a"}, 0o755)
			f.assertPerm("later", []string{"b"}, want)
		})
	}
}
