package cairn_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestRenamesAgreeWithGit moves files, some of them with edits, and compares the text with that of
// git diff -M.
func TestRenamesAgreeWithGit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	for seed := range uint64(gittest.Rounds(40)) {
		random := rand.New(rand.NewPCG(seed, 5))
		tree := gittest.Tree{}
		for i := range 12 {
			var text strings.Builder
			for line := range 1 + random.IntN(40) {
				fmt.Fprintf(&text, "line %d of file %d, %x\n", line, i, random.Uint32())
			}
			tree[fmt.Sprintf("dir%d/file%d", i%3, i)] = gittest.File(text.String())
		}
		f := newFixture(t, tree)
		r := f.repo()
		before := f.trackBy(r).Checkpoint
		for i := range 12 {
			moveRandomly(t, f, random, fmt.Sprintf("dir%d/file%d", i%3, i))
		}
		after := f.trackBy(r).Checkpoint
		for _, space := range []bool{false, true} {
			var text bytes.Buffer
			if err := r.Diff(background, &text, before, after, cairn.DiffOptions{Renames: true, IgnoreSpace: space}); err != nil {
				t.Fatal(err)
			}
			args := []string{"--git-dir", r.StoreDir(), "-c", "core.abbrev=7", "-c", "core.quotePath=false", "diff", "-M", "--no-color"}
			if space {
				args = append(args, "-w")
			}
			if want := o.In(f.root, append(args, before, after)...); strings.TrimSpace(text.String()) != strings.TrimSpace(want) {
				t.Fatalf("seed %d, -w %v:\n%s\nis not\n%s", seed, space, text.String(), want)
			}
		}
	}
}

// moveRandomly moves a file, edits it, changes its mode, or does several of these.
func moveRandomly(t *testing.T, f *fixture, random *rand.Rand, path string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(f.root, path))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(content), "\n")
	for range random.IntN(len(lines)) * random.IntN(2) {
		lines[random.IntN(len(lines))] = fmt.Sprintf("an edit, %x\n", random.Uint64())
	}
	to := path
	switch random.IntN(5) {
	case 0:
		to = "moved/" + filepath.Base(path)
	case 1:
		to = path + " renamed"
	case 2:
		lines[0] = " " + lines[0]
	}
	f.remove(path)
	if to == path && random.IntN(4) == 0 {
		return
	}
	f.write(to, strings.Join(lines, ""))
	if random.IntN(5) == 0 {
		if err := os.Chmod(filepath.Join(f.root, to), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
