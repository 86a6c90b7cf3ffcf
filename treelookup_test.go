package cairn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// bySpec are commands about one checkpoint.
var bySpec = map[string]func(r *cairn.Repo, spec string) error{
	"lookup": func(r *cairn.Repo, spec string) error { _, err := r.Lookup(background, spec); return err },
	"patch":  func(r *cairn.Repo, spec string) error { _, err := r.Patch(background, spec, ""); return err },
	"a restore that is tried": func(r *cairn.Repo, spec string) error {
		_, err := r.Restore(background, spec, cairn.RestoreOptions{DryRun: true})
		return err
	},
	"diff": func(r *cairn.Repo, spec string) error {
		for _, err := range r.DiffFull(background, spec, "@", cairn.DiffOptions{}) {
			if err != nil {
				return err
			}
		}
		return nil
	},
}

// Limits of what a command may allocate for each checkpoint of the store. A walk reads every
// checkpoint that is newer than the one looked for.
const (
	perCheckpoint = 1.0
	perWalked     = 20.0
)

// A command about the newest of many checkpoints, or about a checkpoint that it names by its id,
// costs as much as with few. A look-up by an old tree walks over the newer checkpoints, and only
// that grows. Not parallel: it counts allocations, some dozens for each object that is read.
func TestCommandsDoNotGrowWithCheckpoints(t *testing.T) {
	gittest.Long(t)
	const few, many = 200, 1000
	f := newFixture(t, gittest.Tree{"f": gittest.File("0"), "d/g": gittest.File("g")})
	r := f.repo()
	var oldest, newest cairn.TrackResult
	grow := func(n int) {
		for i := range n {
			f.write("f", fmt.Sprint("content ", n, i))
			made, err := r.Track(background, cairn.TrackOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if newest = *made; oldest.Hash == "" {
				oldest = *made
			}
		}
	}
	count := func() map[string]float64 {
		commands := map[string]func(*cairn.Repo) error{
			"track": func(r *cairn.Repo) error { _, err := r.Track(background, cairn.TrackOptions{}); return err },
			"log of 20": func(r *cairn.Repo) error {
				n := 0
				for _, err := range r.Checkpoints(background) {
					if n++; err != nil || n == 20 {
						return err
					}
				}
				return nil
			},
		}
		for what, run := range bySpec {
			for name, spec := range map[string]string{
				"@": "@", "@~1": "@~1", "the newest tree": newest.Hash, "a prefix of the newest tree": newest.Hash[:12],
				"the oldest id": oldest.Checkpoint, "a prefix of the oldest id": oldest.Checkpoint[:12],
				"the oldest tree": oldest.Hash, "a prefix of the oldest tree": oldest.Hash[:12],
			} {
				commands[what+": "+name] = func(r *cairn.Repo) error { return run(r, spec) }
			}
		}
		foldStatCache(f) // else its delta is of any length
		counts := make(map[string]float64)
		for name, run := range commands {
			counts[name] = testing.AllocsPerRun(2, func() {
				if err := run(f.repo()); err != nil {
					t.Fatal(name, err)
				}
			})
		}
		return counts
	}
	grow(few)
	before := count()
	grow(many - few)
	for name, n := range count() {
		limit := perCheckpoint
		if strings.HasSuffix(name, "the oldest tree") {
			limit = perWalked
		}
		if n > before[name]+(many-few)*limit {
			t.Errorf("%s: %v allocations with %d checkpoints, %v with %d", name, before[name], few, n, many)
		}
	}
}

// A cleaning by another process cuts lines while a walk goes back on them, or between two
// walks of a Repo that stays open. The walk ends where the line does.
func TestWalkBesideACleaning(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("0")})
	for i := range 20 {
		f.write("f", fmt.Sprint(i))
		f.track()
	}
	open := f.repo()
	walked := func(beside func()) (n int) {
		t.Helper()
		for _, err := range open.Checkpoints(background) {
			if err != nil {
				t.Fatalf("after %d checkpoints: %v", n, err)
			}
			if n++; n == 5 {
				beside()
			}
		}
		return n
	}
	clean := func() {
		t.Helper()
		keep := cairn.Retention{MaxCount: 8, KeepLast: 1}
		if _, err := f.repo().Clean(background, cairn.CleanOptions{Retention: keep, Thorough: true}); err != nil {
			t.Fatal(err)
		}
		_, err := open.Lookup(background, strings.Repeat("0", 40)) // lists the packs again
		assertError(t, err, cairn.ErrNotFound)
	}
	if n := walked(func() {}); n != 20 {
		t.Fatalf("%d checkpoints before the cleaning", n)
	}
	during, after := walked(clean), walked(func() {})
	if after >= 20 || during != after {
		t.Errorf("%d checkpoints during the cleaning, %d after it", during, after)
	}
}
