package cairn_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestMergeAgreesWithGit merges random edits and renames of two sides and compares the tree with that
// of git merge-tree.
func TestMergeAgreesWithGit(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	o.NeedVersion(2, 38)
	clean := 0
	for seed := range uint64(gittest.Rounds(60)) {
		random := rand.New(rand.NewPCG(seed, 25))
		f := newFixture(t, randomProject(random, 12))
		base := f.track().Checkpoint
		editRandomly(f, random, 12)
		theirs := f.track().Checkpoint
		f.restoreAll(base)
		editRandomly(f, random, 12)
		ours := f.track()
		git := func(args ...string) string {
			return strings.TrimSpace(o.In(f.root, append([]string{"--git-dir", f.repo().StoreDir()}, args...)...))
		}
		root := git("commit-tree", "-m", "base", base+"^{tree}")
		side := func(spec string) string { return git("commit-tree", "-m", "side", "-p", root, spec+"^{tree}") }
		out, err := o.Try(f.root, "--git-dir", f.repo().StoreDir(), "-c", "merge.directoryRenames=false",
			"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", side(ours.Checkpoint), side(theirs))
		parts := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
		res := f.mergeCheckpoint(theirs, cairn.MergeOptions{})
		if (err == nil) != (len(res.Conflicts) == 0) || len(res.Kept) > 0 {
			t.Fatalf("seed %d: git %q (%v), cairn %+v", seed, parts, err, res)
		}
		after := f.track()
		if err == nil {
			clean++
			if after.Hash != parts[0] {
				t.Fatalf("seed %d: tree %s, want %s\n%s", seed, after.Hash, parts[0], git("diff", "-M", parts[0], after.Hash))
			}
			continue
		}
		// Conflicts stay as they are here, and every other path is as git has it.
		unclear := append(parts[1:], pathsOfReasons(res.Conflicts)...)
		for _, line := range strings.Split(git("diff", "--no-renames", "--name-only", parts[0], after.Hash), "\n") {
			if line != "" && !slices.ContainsFunc(unclear, func(path string) bool { return path == line || strings.HasPrefix(line, path+"~") }) {
				t.Fatalf("seed %d: %s differs from git's; conflicts of git %q, of cairn %q", seed, line, parts[1:], reasonsOf(res.Conflicts))
			}
		}
	}
	if clean == 0 {
		t.Error("no merge was clean")
	}
}

func pathsOfReasons(list []cairn.PathReason) (paths []string) {
	for _, p := range list {
		paths = append(paths, string(p.Path))
	}
	return paths
}

func randomProject(random *rand.Rand, files int) gittest.Tree {
	tree := gittest.Tree{}
	for i := range files {
		var text strings.Builder
		for line := range 20 + random.IntN(20) {
			fmt.Fprintf(&text, "line %d of file %d, %x\n", line, i, random.Uint32())
		}
		tree[fmt.Sprintf("dir%d/file%d", i%3, i)] = gittest.File(text.String())
	}
	return tree
}

// editRandomly edits about half of the files, and moves, deletes or adds some.
func editRandomly(f *fixture, random *rand.Rand, files int) {
	f.Helper()
	for i := range files {
		path := fmt.Sprintf("dir%d/file%d", i%3, i)
		if random.IntN(2) == 0 {
			continue
		}
		lines := strings.SplitAfter(f.read(path), "\n")
		for range random.IntN(4) {
			lines[random.IntN(len(lines)-1)] = fmt.Sprintf("an edit, %x\n", random.Uint64())
		}
		to := path
		switch random.IntN(8) {
		case 0:
			to = "moved/" + filepath.Base(path)
		case 1:
			to = path + fmt.Sprint(".", random.IntN(3))
		case 2:
			f.remove(path)
			continue
		case 3:
			os.Chmod(f.path(path), 0o755)
		}
		if to != path {
			f.remove(path)
		}
		f.write(to, strings.Join(lines, ""))
	}
	for i := range random.IntN(3) {
		f.write(fmt.Sprintf("dir%d/made%d", i, random.IntN(4)), fmt.Sprintf("made, %x\n", random.Uint64()))
	}
}
