package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// past is a directory with some checkpoints, which git can read in the store.
type past struct {
	*testing.T
	oracle           *gittest.Oracle
	dir, home, store string
	ids              []string // the oldest first
}

func newPast(t *testing.T, o *gittest.Oracle, random *rand.Rand, n int) *past {
	t.Helper()
	p := &past{T: t, oracle: o, dir: filepath.Join(t.TempDir(), "project"), home: t.TempDir()}
	files := make(map[string]string)
	gittest.Create(t, p.dir, gittest.Tree{})
	for range n {
		moveSome(random, files)
		tree := gittest.Tree{}
		for name, content := range files {
			tree[name] = gittest.File(content)
		}
		replaceTree(t, p.dir, tree)
		p.cairn("track", "-m", "x")
		id := regexp.MustCompile(`"id": ?"([0-9a-f]+)"`).FindStringSubmatch(p.cairn("log", "-1", "--json"))
		p.ids = append(p.ids, id[1])
	}
	p.store = regexp.MustCompile(`"store": ?"([^"]+)"`).FindStringSubmatch(p.cairn("status", "--json"))[1]
	return p
}

func someLines(random *rand.Rand, file int) string {
	var b strings.Builder
	for line := range 2 + random.IntN(30) {
		fmt.Fprintf(&b, "line %d of  file %d, %x\n", line, file, random.Uint32())
	}
	return b.String()
}

// moveSome makes, renames, edits and deletes files.
func moveSome(random *rand.Rand, files map[string]string) {
	for i := range 6 {
		name := fmt.Sprintf("dir%d/file%d", i%2, i)
		moved := "moved/" + name
		if files[name] == "" {
			name, moved = moved, name
		}
		if files[name] == "" {
			files[name] = someLines(random, i)
			continue
		}
		lines := strings.SplitAfter(files[name], "\n")
		for range random.IntN(4) {
			at := random.IntN(len(lines))
			switch random.IntN(3) {
			case 0:
				lines[at] = strings.Replace(lines[at], "of  file", "of\tfile", 1)
			case 1:
				lines[at] = strings.Replace(lines[at], "line", "text", 1)
			default:
				lines[at] = fmt.Sprintf("new %x\n", random.Uint32()) + lines[at]
			}
		}
		delete(files, name)
		switch random.IntN(5) {
		case 0:
		case 1:
			files[moved] = strings.Join(lines, "")
		default:
			files[name] = strings.Join(lines, "")
		}
	}
}

func (p *past) cairn(args ...string) string {
	p.Helper()
	c := runHere(p.T, p.dir, p.home, "", args...)
	if c.status != cli.ExitDone {
		p.Fatalf("cairn %q: status %d, %s", args, c.status, c.stderr)
	}
	return c.stdout
}

// git asks git about the checkpoints.
func (p *past) git(args ...string) string {
	p.Helper()
	return p.oracle.In(p.dir, append([]string{"--git-dir", p.store, "-c", "core.abbrev=7", "-c", "core.quotePath=false", "-c", "diff.renames=false"}, args...)...)
}

var textOptions = [][]string{
	{}, {"-M"}, {"-w"}, {"-U0"}, {"-U1"}, {"--word-diff"}, {"--word-diff=porcelain", "-M"}, {"--color-words"}, {"--color-words", "-w"},
	{"--stat"}, {"--stat", "-M"}, {"--stat", "-w"}, {"--stat", "-p"}, {"--stat", "-p", "-M", "-w"},
}

// forGit makes the table as wide as that of cairn without a terminal.
func forGit(options []string) []string {
	args := append([]string{}, options...)
	for i := range args {
		if args[i] == "--stat" {
			args[i] = "--stat=80"
		}
	}
	return args
}

// TestShowAgreesWithGit compares the text after the head with that of git show.
func TestShowAgreesWithGit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	for seed := range uint64(gittest.Rounds(6)) {
		p := newPast(t, o, rand.New(rand.NewPCG(seed, 22)), 3)
		for _, id := range p.ids[1:] {
			for _, options := range textOptions {
				got := p.cairn(append([]string{"show", id}, options...)...)
				_, got, _ = strings.Cut(got, "\n\n    x\n\n")
				want := p.git(append([]string{"show", "--format=", id}, forGit(options)...)...)
				if strings.TrimSpace(got) != strings.TrimSpace(want) {
					t.Fatalf("seed %d, %q:\n%s\nis not\n%s", seed, options, got, want)
				}
			}
		}
	}
}

// TestLogTextAgreesWithGit compares what stands below each checkpoint with git log --oneline. The
// first of a line has no difference, unlike git's root commit.
func TestLogTextAgreesWithGit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	entry := regexp.MustCompile(`(?m)^(?:\x1b\[33m)?[0-9a-f]{12,40}(?:\x1b\[m)? .*$`)
	for seed := range uint64(gittest.Rounds(4)) {
		p := newPast(t, o, rand.New(rand.NewPCG(seed, 23)), 4)
		for _, options := range textOptions {
			if len(options) == 0 || options[0] == "-M" || options[0] == "-w" {
				options = append([]string{"-p"}, options...)
			}
			for _, paths := range [][]string{nil, {"dir0", "moved"}} {
				git := forGit(append([]string{}, options...))
				if options[0] != "--stat" {
					git = append(git, "-p")
				}
				got := p.cairn(append(append([]string{"log"}, options...), append([]string{"--"}, paths...)...)...)
				want := p.git(append(append(append([]string{"log", "--oneline", "--no-abbrev-commit"}, git...), p.ids[len(p.ids)-1], "--"), paths...)...)
				have, wanted := entry.Split(got, -1), entry.Split(want, -1)
				if len(have) != len(wanted) {
					t.Fatalf("seed %d, %q %q: %d checkpoints instead of %d", seed, options, paths, len(have), len(wanted))
				}
				for i := range have[:len(have)-1] {
					if strings.TrimSpace(have[i]) != strings.TrimSpace(wanted[i]) {
						t.Fatalf("seed %d, %q %q:\n%s\nis not\n%s", seed, options, paths, have[i], wanted[i])
					}
				}
			}
		}
	}
}
