package ignore

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// For a longer run by hand:
//
//	go test -run Differential -decisions 80000 -seed 7
var (
	decisions = flag.Int("decisions", 2000, "paths to compare with git in each differential test")
	trees     = flag.Int("trees", 1, "trees of each kind to compare with git")
	seed      = flag.Uint64("seed", 1, "seed of the differential tests")
)

// compare asks git and this package about the paths and returns how often they
// disagree, which is reported.
func compare(t *testing.T, w *world, paths []string) {
	t.Helper()
	wrong := 0
	for i, want := range w.ask(t, paths) {
		got := w.judge(paths[i])
		if covered := w.covers(paths[i]); got == want && covered == (want == Ignore) {
			continue
		}
		if wrong++; wrong <= 5 {
			t.Errorf("%q: got %v, git says %v\n%v", paths[i], got, want, w.part(paths[i]))
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d decisions are wrong", wrong, len(paths))
	}
}

// part returns what of w has to do with a path.
func (w *world) part(path string) *world {
	part := *w
	part.rules = map[string]string{}
	for dir, text := range w.rules {
		if dir == "" || strings.HasPrefix(path, dir+"/") {
			part.rules[dir] = text
		}
	}
	return &part
}

func TestDifferentialHard(t *testing.T) {
	t.Parallel()
	differential(t, newHard(*seed), false)
}

func TestDifferentialHardFold(t *testing.T) {
	t.Parallel()
	differential(t, newHard(*seed+1000), true)
}

func TestDifferentialRealistic(t *testing.T) {
	t.Parallel()
	differential(t, newRealistic(*seed), false)
}

func TestDifferentialRealisticFold(t *testing.T) {
	t.Parallel()
	differential(t, newRealistic(*seed+1000), true)
}

func differential(t *testing.T, g *generator, fold bool) {
	needGit(t)
	needAnyName(t)
	if v, _ := gitVersion(); slices.Compare(v[:], []int{2, 52}) < 0 {
		t.Logf("git %d.%d misreads two stars behind a literal: such lines are left out", v[0], v[1])
	}
	var count [3]int
	for sum := 0; sum < gittest.Rounds(*decisions) && !t.Failed(); sum = count[None] + count[Ignore] + count[Include] {
		w, paths := g.world(40, 25, fold)
		compare(t, w, paths)
		for _, path := range paths {
			count[w.judge(path)]++
		}
	}
	t.Logf("%d ignored, %d included, %d unmatched", count[Ignore], count[Include], count[None])
}

// TestPlain compares with the plain matcher, which needs no git and no file system.
func TestPlain(t *testing.T) {
	t.Parallel()
	matched := 0
	for _, g := range []*generator{newHard(*seed), newRealistic(*seed)} {
		for range gittest.Rounds(1000) {
			var all []string
			text, fold := g.file(1+g.IntN(8), &all), g.percent(30)
			p := Parse([]byte(text), fold)
			for range 20 {
				path, ok := clean(g.path(all) + "/" + g.path(all))
				if !ok {
					continue
				}
				dir := g.percent(30)
				for _, rel := range []string{path, path[strings.IndexByte(path, '/')+1:]} {
					got, want := p.Match(rel, dir), plainMatch(text, rel, dir, fold)
					if got != want {
						t.Fatalf("%q, %q, dir %v, fold %v: got %v, want %v", text, rel, dir, fold, got, want)
					}
					if got != None {
						matched++
					}
				}
			}
		}
	}
	if matched < gittest.Rounds(5000) {
		t.Errorf("only %d matches", matched)
	}
}
