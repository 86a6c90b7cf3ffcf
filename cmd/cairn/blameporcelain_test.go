package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// editSome changes a few of many lines. No text comes twice, so no content comes back.
func editSome(random *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	for range 1 + random.IntN(4) {
		at := random.IntN(len(lines))
		lines = slices.Replace(lines, at, min(len(lines), at+random.IntN(2)), fmt.Sprintf("new %x\n", random.Uint64()))
	}
	return strings.Join(lines, "")
}

// blameSome makes checkpoints of files that are edited, made, deleted and renamed with edits.
func blameSome(t *testing.T, o *gittest.Oracle, random *rand.Rand) *past {
	p := newPast(t, o, random, 1)
	files := map[string]string{}
	for n := range 8 {
		for name := range files {
			switch random.IntN(8) {
			case 0:
				files[fmt.Sprintf("dir %d/ü", n)] = editSome(random, files[name])
				delete(files, name)
			case 1:
				delete(files, name)
			case 2, 3, 4:
				files[name] = editSome(random, files[name])
			}
		}
		if n%3 == 0 {
			var b strings.Builder
			for range 40 {
				fmt.Fprintf(&b, "line %x\n", random.Uint64())
			}
			files[fmt.Sprint("file", n%2)] = b.String()
		}
		tree := gittest.Tree{}
		for name, content := range files {
			tree[name] = gittest.File(content)
		}
		replaceTree(t, p.dir, tree)
		p.cairn("track")
		id := regexp.MustCompile(`"id": ?"([0-9a-f]+)"`).FindStringSubmatch(p.cairn("log", "-1", "--json"))
		p.ids = append(p.ids, id[1])
	}
	return p
}

// TestBlamePorcelainAgreesWithGit compares the lines that programs read: of which checkpoint and path a line
// is, and where an editor that walks back has to look next.
func TestBlamePorcelainAgreesWithGit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	notCompared := regexp.MustCompile(`(?m)^(author|committer|summary).*\n`)
	for seed := range uint64(gittest.Rounds(4)) {
		p := blameSome(t, o, rand.New(rand.NewPCG(seed, 41)))
		for _, id := range []string{p.ids[len(p.ids)/2], p.ids[len(p.ids)-1]} {
			for _, path := range p.filesAt(id) {
				got := notCompared.ReplaceAllString(p.cairn("blame", "--line-porcelain", id, path), "")
				want := notCompared.ReplaceAllString(p.git("blame", "--line-porcelain", id, "--", path), "")
				lines, wanted := strings.Split(got, "\n"), strings.Split(want, "\n")
				for i, line := range wanted {
					if i >= len(lines) || lines[i] != line {
						t.Fatalf("seed %d, %s %s, line %d: got\n%q, want\n%q", seed, id, path, i+1, lines[min(i, len(lines)-1)], line)
					}
				}
			}
		}
	}
}

func (p *past) filesAt(id string) []string {
	return strings.FieldsFunc(p.git("ls-tree", "-r", "-z", "--name-only", id), func(r rune) bool { return r == 0 })
}
