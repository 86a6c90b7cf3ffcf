package cairn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestChangedAfterOperations: how many paths a track says have changed, since the newest
// checkpoint outside of sessions, where operations went on in between. Git counts, too.
func TestChangedAfterOperations(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	restore := func(r *cairn.Repo, hash string, opt cairn.RestoreOptions) error {
		_, err := r.Restore(background, hash, opt)
		return err
	}
	undo := func(r *cairn.Repo) error { _, err := r.Undo(background, cairn.RevertOptions{}); return err }
	redo := func(r *cairn.Repo) error { _, err := r.Redo(background, cairn.RevertOptions{}); return err }
	for name, do := range map[string]func(f *fixture, r *cairn.Repo, states [2]string) error{
		"a restore": func(_ *fixture, r *cairn.Repo, s [2]string) error { return restore(r, s[0], cairn.RestoreOptions{}) },
		"a part of one": func(_ *fixture, r *cairn.Repo, s [2]string) error {
			return restore(r, s[0], cairn.RestoreOptions{Paths: []string{"dir1", "dir2/file2"}})
		},
		"there and back": func(_ *fixture, r *cairn.Repo, s [2]string) error {
			if err := restore(r, s[0], cairn.RestoreOptions{}); err != nil {
				return err
			}
			return restore(r, s[1], cairn.RestoreOptions{})
		},
		"two parts": func(_ *fixture, r *cairn.Repo, s [2]string) error {
			if err := restore(r, s[0], cairn.RestoreOptions{Paths: []string{"dir1"}}); err != nil {
				return err
			}
			return restore(r, s[0], cairn.RestoreOptions{Paths: []string{"dir2"}})
		},
		"an undo": func(_ *fixture, r *cairn.Repo, s [2]string) error {
			if err := restore(r, s[0], cairn.RestoreOptions{}); err != nil {
				return err
			}
			return undo(r)
		},
		"an undo and a redo": func(_ *fixture, r *cairn.Repo, s [2]string) error {
			if err := restore(r, s[0], cairn.RestoreOptions{}); err != nil {
				return err
			}
			if err := undo(r); err != nil {
				return err
			}
			return redo(r)
		},
		"an edit before": func(f *fixture, r *cairn.Repo, s [2]string) error {
			f.write("dir0/file0", "before")
			return restore(r, s[0], cairn.RestoreOptions{})
		},
		"an edit after": func(f *fixture, r *cairn.Repo, s [2]string) error {
			err := restore(r, s[0], cairn.RestoreOptions{})
			f.write("dir0/file0", "after")
			return err
		},
		"an edit after that brings one back": func(f *fixture, r *cairn.Repo, s [2]string) error {
			now := f.read("dir0/file0")
			err := restore(r, s[0], cairn.RestoreOptions{})
			f.write("dir0/file0", now)
			return err
		},
		"a new file, and one that is ignored": func(f *fixture, r *cairn.Repo, s [2]string) error {
			f.write("dir0/new", "new")
			f.write("dir0/x.log", "ignored")
			return restore(r, s[0], cairn.RestoreOptions{})
		},
	} {
		for _, watch := range []bool{false, true} {
			for _, again := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, watch %t, opened again %t", name, watch, again), func(t *testing.T) {
					t.Parallel()
					f := newFixture(t, gittest.Tree{".gitignore": gittest.File("*.log\n")})
					_, states := versions(f, 12)
					f.opt.Watch = watch
					r := f.repo()
					tip, err := r.Track(background, cairn.TrackOptions{})
					if err == nil {
						err = do(f, r, states)
					}
					if err != nil {
						t.Fatal(err)
					}
					if again {
						f.closeAll()
						r = f.repo()
					}
					got, err := r.Track(background, cairn.TrackOptions{})
					if err != nil {
						t.Fatal(err)
					}
					changed := gittest.NewOracle(t).DiffTree(r.StoreDir(), tip.Hash, got.Hash, "--no-renames", "--name-only")
					if n := strings.Count(changed, "\n"); got.Changed != n {
						t.Errorf("%d paths have changed, not %d:\n%s", n, got.Changed, changed)
					}
				})
			}
		}
	}
}
