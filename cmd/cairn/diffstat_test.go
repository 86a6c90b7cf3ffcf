package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestDiffStat compares the table with git's for random numbers of added and deleted
// lines and bytes, below and above what fits on a line, with colours and without.
func TestDiffStat(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	oracle := gittest.NewOracle(t)
	home, data := t.TempDir(), t.TempDir()
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		before, after := statTrees(rng)
		dir := filepath.Join(t.TempDir(), "project")
		gittest.Create(t, dir, before)
		old := oracle.WriteTree(dir)
		if c := runHere(t, dir, home, "", "--data-dir", data, "track"); c.status != cli.ExitDone {
			t.Fatal(c)
		}
		dir2 := filepath.Join(t.TempDir(), "project")
		gittest.Create(t, dir2, after)
		now := oracle.WriteTree(dir2)
		replaceTree(t, dir, after)
		for _, color := range []string{"--color=never", "--color=always"} {
			want := oracle.Git("-c", "core.quotePath=false", "diff", "--no-renames", "--stat=80", color, old, now)
			got := runHere(t, dir, home, "", "--data-dir", data, "diff", "--stat", color)
			if got.status != cli.ExitDone || got.stdout != want {
				t.Errorf("seed %d: status %d\n%s%s\ngit:\n%s", seed, got.status, got.stdout, got.stderr, want)
			}
		}
	}
}

func statTrees(rng *rand.Rand) (before, after gittest.Tree) {
	before, after = gittest.Tree{"same": gittest.File("x\n")}, gittest.Tree{"same": gittest.File("x\n")}
	scale := []int{3, 30, 100, 3000}[rng.IntN(4)]
	for i := range 1 + rng.IntN(8) {
		name := strings.Repeat("n", 1+rng.IntN(30)) + fmt.Sprint(i)
		name += []string{"ü\t", "你好", "e\u0301", "", "", ""}[rng.IntN(6)]
		kept, gone, added := rng.IntN(10), rng.IntN(scale), rng.IntN(scale)
		before[name] = gittest.File(numbered("kept", kept) + numbered("gone", gone))
		after[name] = gittest.File(numbered("kept", kept) + numbered("added", added))
		if rng.IntN(4) == 0 {
			before[name], after[name] = gittest.File("\x00"+numbered("gone", gone)), gittest.File("\x00"+numbered("added", added))
		}
		switch rng.IntN(6) {
		case 0:
			delete(before, name)
		case 1:
			delete(after, name)
		}
	}
	return before, after
}

func numbered(word string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", word, i)
	}
	return b.String()
}
