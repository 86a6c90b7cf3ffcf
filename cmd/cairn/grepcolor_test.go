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

// TestGrep_ColorsEqualGit compares the bytes of a coloured grep with those of git grep, for random
// texts, binary files, names that need quotes, and every option that both have.
func TestGrep_ColorsEqualGit(t *testing.T) {
	t.Parallel()
	oracle := gittest.NewOracle(t)
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "project")
	rng := rand.New(rand.NewPCG(3, 5))
	gittest.Create(t, dir, grepTree(rng))
	tree := oracle.WriteTree(dir)
	if c := runHere(t, dir, home, "", "track"); c.status != cli.ExitDone || strings.TrimSpace(c.stdout) != tree {
		t.Fatalf("%+v, want %s", c, tree)
	}
	found := 0
	for range gittest.Rounds(400) {
		pattern := []string{"o+", "fo*", "b|r", "foo", "f*", "^b", "o$", "r.o", "zzz", "\t"}[rng.IntN(10)]
		args := []string{"grep", "--color=always", pattern, tree}
		for _, option := range []string{"-n", "-i", []string{"-c", "-l", "-F"}[rng.IntN(3)]} {
			if rng.IntN(2) == 0 {
				args = append(args[:1], append([]string{option}, args[1:]...)...)
			}
		}
		want, err := gittest.TryBare(t, oracle.Store(), "", append([]string{"-c", "core.quotePath=false", "grep", "-E"}, args[1:]...)...)
		if err != nil {
			want = "" // it found nothing
		}
		got := runHere(t, dir, home, "", args...)
		if got.stdout != want {
			t.Fatalf("%q: status %d\n%q\ngit:\n%q", args, got.status, got.stdout, want)
		}
		found += strings.Count(want, "\n")
	}
	if found == 0 {
		t.Error("no line was compared")
	}
}

func grepTree(rng *rand.Rand) gittest.Tree {
	tree := gittest.Tree{"binary": gittest.File("foo\x00bar\n"), "quoted\"\t": gittest.File("foo\n"), "sub/ü": gittest.File("bar foo\r\nFOO\r\n")}
	words := []string{"foo", "bar", "Foo", "", "\x1b[31mo", "\to", "z", "ö", "\xff"}
	for i := range 12 {
		var text strings.Builder
		for range rng.IntN(9) {
			for range rng.IntN(6) {
				text.WriteString(words[rng.IntN(len(words))] + []string{"", " "}[rng.IntN(2)])
			}
			text.WriteByte('\n')
		}
		tree[fmt.Sprint("f", i)] = gittest.File(text.String() + words[rng.IntN(len(words))])
	}
	return tree
}
