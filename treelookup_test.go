package cairn_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// A look-up with an index finds what a walk over all finds, whatever happens: new
// checkpoints of old trees, lines that fork and events that change nothing, clocks that
// stand still or go back, lines that are deleted, cleanings that cut them.
func TestLookupByIndexAgreesWithTheWalk(t *testing.T) {
	t.Parallel()
	for seed := range uint64(gittest.Rounds(6)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			lookupModel(t, rand.New(rand.NewPCG(seed, 0)))
		})
	}
}

func lookupModel(t *testing.T, random *rand.Rand) {
	f := newFixture(t, gittest.Tree{"f": gittest.File("0")})
	now := time.Unix(1_700_000_000, 0)
	open, plain := f.repo(), f.repo()
	open.SetLongWalk(3)
	plain.SetLongWalk(0)
	open.SetClock(func() time.Time { return now })
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do2 := func(_ any, err error) { t.Helper(); do(err) }
	trees := make(map[string]bool)
	checkpoint := first(t, open)
	for step := range 60 {
		now = now.Add([]time.Duration{0, time.Second, time.Second, time.Second, time.Minute, time.Hour}[random.IntN(6)])
		if random.IntN(25) == 0 {
			now = now.Add(-time.Hour)
		}
		line := fmt.Sprint("l", random.IntN(3))
		if random.IntN(3) > 0 {
			f.write("f", fmt.Sprint(random.IntN(2*step+1)))
		}
		what := random.IntN(20)
		switch {
		case what < 12:
			made, err := open.Track(background, cairn.TrackOptions{Message: []string{"", "again"}[random.IntN(2)]})
			do(err)
			checkpoint = made.Checkpoint
		case what < 17:
			do(open.UpdateLines(background, func(u *cairn.LineUpdate) error {
				a := cairn.LineAppend{Record: []byte(`{}`), Capture: random.IntN(2) == 0}
				e, err := u.Append(background, line, a)
				if err != nil { // it begins only here
					a.Parent, a.State = checkpoint, checkpoint
					e, err = u.Append(background, line, a)
				}
				if err == nil {
					trees[e.Hash] = true
				}
				return err
			}))
		case what == 17:
			_ = open.UpdateLines(background, func(u *cairn.LineUpdate) error { return u.Delete(line) }) // if it is there
		case what == 18:
			do2(open.Restore(background, checkpoint, cairn.RestoreOptions{}))
		default:
			do2(open.Clean(background, cairn.CleanOptions{Retention: cairn.Retention{MaxCount: 8, KeepLast: 2}}))
		}
		for c, err := range plain.Checkpoints(background) {
			do(err)
			trees[c.Hash] = true
		}
		fresh := f.repo()
		fresh.SetLongWalk(3)
		for tree := range trees {
			want, wantErr := plain.Lookup(background, tree)
			for name, r := range map[string]*cairn.Repo{"open": open, "fresh": fresh} {
				got, err := r.Lookup(background, tree)
				if (err == nil) != (wantErr == nil) || err == nil && got.ID != want.ID {
					t.Fatalf("step %d (%d), %s: tree %s is %+v, %v; want %+v, %v", step, what, name, tree, got, err, want, wantErr)
				}
			}
		}
	}
}

func first(t *testing.T, r *cairn.Repo) string {
	t.Helper()
	made, err := r.Track(background, cairn.TrackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Checkpoint
}

// What is done to the newest or the oldest of many checkpoints costs what it costs with
// few. Not parallel: it counts allocations, some dozens for each object that is read.
func TestCommandsDoNotGrowWithCheckpoints(t *testing.T) {
	const few, many = 200, 1000
	f := newFixture(t, gittest.Tree{"f": gittest.File("0"), "d/g": gittest.File("g")})
	r := f.repo()
	var oldest *cairn.Track
	grow := func(n int) {
		for i := range n {
			f.write("f", fmt.Sprint("content ", n, i))
			made, err := r.Track(background, cairn.TrackOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if oldest == nil {
				oldest = made
			}
		}
	}
	lookup := func(spec string) func(*cairn.Repo) error {
		return func(r *cairn.Repo) error { _, err := r.Lookup(background, spec); return err }
	}
	grow(few)
	commands := map[string]func(*cairn.Repo) error{
		"the oldest by its tree": lookup(oldest.Hash),
		"the oldest by its id":   lookup(oldest.Checkpoint),
		"the oldest by a prefix": lookup(oldest.Hash[:12]),
		"the newest":             lookup("@"),
		"the one before it":      lookup("@~1"),
		"patch since the oldest": func(r *cairn.Repo) error { _, err := r.Patch(background, oldest.Hash, ""); return err },
		"a restore that is tried": func(r *cairn.Repo) error {
			_, err := r.Restore(background, oldest.Hash, cairn.RestoreOptions{DryRun: true})
			return err
		},
		"track": func(r *cairn.Repo) error { _, err := r.Track(background, cairn.TrackOptions{}); return err },
		"diff between the two oldest": func(r *cairn.Repo) error {
			for _, err := range r.DiffFull(background, oldest.Hash, oldest.Checkpoint, cairn.DiffOptions{}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
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
	count := func() map[string]float64 {
		counts := make(map[string]float64)
		for name, run := range commands {
			once := func() {
				if err := run(f.repo()); err != nil {
					t.Fatal(name, err)
				}
			}
			once() // which may make what the next ones find
			counts[name] = testing.AllocsPerRun(2, once)
		}
		return counts
	}
	before := count()
	grow(many - few)
	for name, n := range count() {
		if n > before[name]+(many-few)*3 {
			t.Errorf("%s: %v allocations with %d checkpoints, %v with %d", name, before[name], few, n, many)
		}
	}
}

// An index that was damaged, cut off or made by another release is as none.
func TestDamagedIndexOfTrees(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"f": gittest.File("0")})
	r := f.repo()
	r.SetLongWalk(1)
	made := first(t, r)
	want, err := r.Lookup(background, made)
	if err != nil {
		t.Fatal(err)
	}
	find := func(what string) {
		t.Helper()
		r := f.repo()
		r.SetLongWalk(1)
		if got, err := r.Lookup(background, want.Hash); err != nil || got.ID != want.ID {
			t.Fatalf("%s: %+v, %v; want %s", what, got, err, want.ID)
		}
		f.closeAll()
	}
	find("without one")
	stores, err := filepath.Glob(filepath.Join(f.data, "snapshot", "*", "cairn", "trees"))
	if err != nil || len(stores) != 1 {
		t.Fatalf("%v, %v", stores, err)
	}
	whole, err := os.ReadFile(stores[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		flipped := slices.Clone(whole)
		flipped[i] ^= 1 << (i % 8)
		for what, data := range map[string][]byte{"flipped": flipped, "cut": whole[:i]} {
			if err := os.WriteFile(stores[0], data, 0o600); err != nil {
				t.Fatal(err)
			}
			find(fmt.Sprint(what, " at ", i))
		}
	}
	again, err := os.ReadFile(stores[0])
	if err != nil || !bytes.Equal(again, whole) {
		t.Errorf("the index is not made again: %d bytes, %v", len(again), err)
	}
}
