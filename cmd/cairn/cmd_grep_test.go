package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// grepText makes a text of few words, with CRLF, empty lines, and no final newline now and then.
func grepText(random *rand.Rand) string {
	var b strings.Builder
	for range random.IntN(14) {
		for range random.IntN(5) {
			b.WriteString([]string{"foo", "Foo", "foobar", "x_foo", "a.b", "axb", " ", "(", "\t", "-foo-"}[random.IntN(10)])
		}
		b.WriteString([]string{"\n", "\n", "\n", "\r\n"}[random.IntN(4)])
	}
	text := b.String()
	switch random.IntN(8) {
	case 0:
		text = strings.TrimSuffix(text, "\n")
	case 1:
		text += "\x00foo\n"
	}
	return text
}

// git's look-ahead also takes the end of a file for an empty line, so ^$ comes with -v, which has none.
var grepPatterns = [][]string{
	{"foo"}, {"-i", "foo"}, {"-w", "foo"}, {"-w", "-i", "fo+"}, {"-F", "a.b"}, {"-F", "-w", "("}, {"a.b"}, {"^foo"}, {"-w", "^foo|x"},
	{"foo$"}, {"foo|x.*b"}, {"-w", "foo|foobar"}, {"-v", "^$"}, {"nothing"}, {"-w", "a.*b"},
}

var grepForms = [][]string{
	{}, {"-n"}, {"-l"}, {"-c"}, {"-v"}, {"-v", "-c"}, {"-n", "-A1"}, {"-B", "2"}, {"-n", "-C", "1"}, {"-C2", "-v"}, {"-C", "1", "-A", "3", "-n"},
}

// TestGrepAgreesWithGit compares the answers about the disk and about a checkpoint with those of git
// grep -E, from the root and from a directory in it.
func TestGrepAgreesWithGit(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	o := gittest.NewOracle(t)
	for seed := range uint64(gittest.Rounds(12)) {
		random := rand.New(rand.NewPCG(seed, 9))
		dir, home := filepath.Join(t.TempDir(), "project"), t.TempDir()
		texts := func() gittest.Tree {
			tree := gittest.Tree{"link": gittest.Link("foo")}
			for i := range 6 {
				tree[fmt.Sprintf("d%d/f ü%d", i%2, i)] = gittest.File(grepText(random))
			}
			return tree
		}
		gittest.Create(t, dir, texts())
		o.Init(dir)
		commit := o.Commit(dir, "one")
		made := runHere(t, dir, home, "", "track")
		if made.status != cli.ExitDone {
			t.Fatal(made)
		}
		hash := strings.TrimSpace(made.stdout)
		git := filepath.Join(dir, ".git")
		replaceFiles(t, dir, texts())
		for i, pattern := range grepPatterns {
			form := slices.Concat(grepForms[(i+int(seed))%len(grepForms)], pattern[:len(pattern)-1])
			if i%2 == int(seed/2)%2 {
				form = append(form, "--color=always")
			}
			for _, at := range []string{"", hash} {
				for _, in := range []string{"", "d1"} {
					args := slices.Concat([]string{"grep"}, form, pattern[len(pattern)-1:])
					ask := slices.Concat([]string{"--git-dir", git, "--work-tree", dir, "-c", "core.quotePath=false", "-c", "grep.threads=1", "grep", "-E"}, form, []string{"-e", pattern[len(pattern)-1]})
					if at != "" {
						args, ask = append(args, at), append(ask, commit)
					}
					got := runHere(t, filepath.Join(dir, in), home, "", args...)
					want, err := o.Try(filepath.Join(dir, in), ask...)
					want = strings.ReplaceAll(want, commit, hash)
					if (err == nil) != (got.status == cli.ExitDone) || got.stdout != want {
						t.Fatalf("seed %d, in %q: %q gives status %d\n%s%s\ngit: %v\n%s", seed, in, args, got.status, got.stdout, got.stderr, err, want)
					}
				}
			}
		}
	}
}

// replaceFiles makes the files of dir those of a tree and leaves its repository alone.
func replaceFiles(t *testing.T, dir string, tree gittest.Tree) {
	t.Helper()
	for _, name := range []string{"d0", "d1"} {
		replaceTree(t, filepath.Join(dir, name), gittest.Tree{})
	}
	delete(tree, "link")
	gittest.Create(t, dir, tree)
}
