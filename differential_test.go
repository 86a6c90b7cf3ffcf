package cairn_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// trees is how many random trees a test makes.
func trees() int { return gittest.Rounds(60) }

// TestTreeIDsEqualGit: the hash is what git add -A && git write-tree gives, for
// random trees with nasty names and random ignore files.
func TestTreeIDsEqualGit(t *testing.T) {
	t.Parallel()
	oracle := gittest.NewOracle(t)
	for seed := range trees() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(seed)))
			f := newFixture(t, gittest.RandomTree(rng, gittest.RandomOptions{ModeBits: true}))
			want := oracle.For(t).WriteTree(f.root)
			if got := f.trackAll(); got != want {
				t.Errorf("tree %s, git has %s", got, want)
			}
		})
	}
}

// TestIncrementalTracksEqualGit edits a tree at random between tracks. git keeps
// its index from one add to the next, as cairn keeps what it holds.
func TestIncrementalTracksEqualGit(t *testing.T) {
	t.Parallel()
	oracle := gittest.NewOracle(t)
	for seed := range trees() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			o := oracle.For(t)
			rng := rand.New(rand.NewPCG(2, uint64(seed)))
			f := newFixture(t, gittest.RandomTree(rng, gittest.RandomOptions{}))
			o.Git("read-tree", "--empty")
			for step := range 6 {
				o.Git("-C", f.root, "--git-dir="+o.Store(), "--work-tree="+f.root, "add", "-A", ".")
				want := strings.TrimSpace(o.Git("write-tree"))
				if got := f.trackAll(); got != want {
					t.Fatalf("step %d: tree %s, git has %s", step, got, want)
				}
				gittest.Mutate(t, rng, f.root, 1+rng.IntN(8))
			}
		})
	}
}

// TestRestoreIsExact: whatever happened since, a restore brings every byte, mode,
// link and empty directory back, for random trees and edits.
func TestRestoreIsExact(t *testing.T) {
	t.Parallel()
	for seed := range trees() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(3, uint64(seed)))
			f := newFixture(t, gittest.RandomTree(rng, gittest.RandomOptions{ModeBits: true, NoIgnoreFiles: true}))
			type point struct {
				hash  string
				state gittest.Listing
			}
			var points []point
			for range 4 {
				points = append(points, point{f.track().Checkpoint, f.manifest()})
				gittest.Mutate(t, rng, f.root, 1+rng.IntN(10))
				f.removeIgnoreFiles()
			}
			for i := range points {
				p := points[(i*7+seed)%len(points)]
				f.restoreAll(p.hash)
				gittest.AssertEqual(t, "after the restore", p.state, f.manifest())
			}
		})
	}
}
