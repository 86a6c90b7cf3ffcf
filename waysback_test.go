package cairn_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// wayWorld is a root in which files, links, directories, pipes, large files and rules take each
// other's names, so that paths come into captures and fall out of them.
type wayWorld struct {
	*fixture
	r      *rand.Rand
	points []string // ids of checkpoints
	done   []string
}

// wayNames collide on purpose. Two of them are common patterns of the rules below.
var wayNames = []string{"a", "b", "c d", "n\nl", ".gitignore", "z\xff"}

var wayRules = []string{"a", "b/", "*", "!a", "/b", "!.gitignore", "a/b", "**/a", ".gitignore", "c*", "!b/", "n?l"}

func pick[E any](r *rand.Rand, list []E) E { return list[r.IntN(len(list))] }

func (w *wayWorld) anyPath() string {
	parts := make([]string, 1+w.r.IntN(3))
	for i := range parts {
		parts[i] = pick(w.r, wayNames)
	}
	return strings.Join(parts, "/")
}

// clear makes room at a path: nothing is at it, and directories are above it.
func (w *wayWorld) clear(rel string) {
	for up := path.Dir(rel); up != "."; up = path.Dir(up) {
		if info, err := os.Lstat(w.path(up)); err == nil && !info.IsDir() {
			w.remove(up)
		}
	}
	w.remove(rel)
	if err := os.MkdirAll(filepath.Dir(w.path(rel)), 0o755); err != nil {
		w.Fatal(err)
	}
}

func (w *wayWorld) put(rel string) {
	w.clear(rel)
	node := gittest.File(fmt.Sprint("line ", w.r.IntN(3), "\nx\ny\nline ", w.r.IntN(3), "\n"))
	switch n := w.r.IntN(20); {
	case path.Base(rel) == ".gitignore" && n < 18:
		var rules strings.Builder
		for range w.r.IntN(3) {
			rules.WriteString(pick(w.r, wayRules) + "\n")
		}
		node = gittest.File(rules.String())
	case n < 3:
		node = gittest.Link(pick(w.r, wayNames))
	case n < 5:
		node = gittest.DirMode(pick(w.r, []uint32{0o755, 0o700, 0o711}))
	case n == 5:
		node = gittest.FIFO()
	case n == 6:
		node = gittest.File(strings.Repeat("large", 200+w.r.IntN(2)))
	case n < 10:
		node = gittest.FileMode(fmt.Sprint(w.r.IntN(3)), pick(w.r, []uint32{0o755, 0o600, 0o444, 0o4711}))
	}
	gittest.Create(w, w.root, gittest.Tree{rel: node})
}

func (w *wayWorld) edit(times int) {
	for range times {
		rel := w.anyPath()
		switch w.r.IntN(8) {
		case 0, 1:
			if _, err := os.Lstat(w.path(rel)); err == nil {
				w.remove(rel)
			}
		case 2:
			_ = os.Rename(w.path(rel), w.path(w.anyPath())) // where there is something, and room for it
		case 3:
			if info, err := os.Lstat(w.path(rel)); err == nil && info.Mode().Type()&os.ModeSymlink == 0 {
				w.chmod(rel, info.Mode().Perm()^0o011)
			}
		default:
			w.put(rel)
		}
	}
}

// way goes back somewhere, somehow.
func (w *wayWorld) way() (*cairn.Result, error) {
	r := w.repo()
	id, from := pick(w.r, w.points), pick(w.r, w.points)
	policy := pick(w.r, []cairn.Policy{cairn.Merge, cairn.Overwrite, cairn.Keep})
	paths := []string{w.anyPath()}
	n := w.r.IntN(7)
	w.done = append(w.done, fmt.Sprintf("way %d of %.6s, %.6s, %q, %q", n, id, from, policy, paths))
	switch n {
	case 0:
		return r.Restore(background, id, cairn.RestoreOptions{KeepNew: true})
	case 1:
		return r.Restore(background, id, cairn.RestoreOptions{Paths: paths})
	case 2:
		return r.Revert(background, cairn.Range{From: from, To: id}, cairn.RevertOptions{OnConflict: policy, Paths: paths})
	case 3, 4:
		return r.Revert(background, cairn.Range{From: from, To: id}, cairn.RevertOptions{OnConflict: policy})
	}
	return r.Restore(background, id, cairn.RestoreOptions{})
}

// touchedOnly fails if a path changed that the answer does not name, and that lies neither above
// nor below one that it names.
func (w *wayWorld) touchedOnly(before, after gittest.Listing, res *cairn.Result) {
	w.Helper()
	all := maps.Clone(before)
	maps.Copy(all, after)
	named := slices.Concat(res.Restored, res.Deleted)
	for p := range all {
		if before[p] != after[p] && !slices.ContainsFunc(named, func(n string) bool { return n == p || isBelow(n, p) || isBelow(p, n) }) {
			w.Fatalf("%q is %v, was %v, and is not named: %+v\n%s", p, after[p], before[p], res, w.said())
		}
	}
}

func (w *wayWorld) said() string { return strings.Join(w.done, "\n") }

// backAndForth undoes the newest operation, redoes it and undoes it once more.
func (w *wayWorld) backAndForth(before, after gittest.Listing) {
	w.Helper()
	for i, want := range []gittest.Listing{before, after, before} {
		var res *cairn.Result
		var err error
		if w.r.IntN(3) == 0 {
			w.track()
		}
		if i == 1 {
			res, err = w.repo().Redo(background, cairn.RevertOptions{})
		} else {
			res, err = w.repo().Undo(background, cairn.RevertOptions{})
		}
		if err != nil || !res.Complete() {
			w.Fatalf("undo %d: %+v, %v\n%s", i, res, err, w.said())
		}
		if diff := gittest.Diff(want, w.manifest()); diff != "" {
			w.Fatalf("undo %d of %+v:\n%s\n%s", i, res, diff, w.said())
		}
	}
}

func (w *wayWorld) run() {
	w.edit(5 + w.r.IntN(20))
	for range 2 + w.r.IntN(4) {
		w.points = append(w.points, w.track().Checkpoint)
		w.edit(w.r.IntN(10))
		before := w.manifest()
		res, err := w.way()
		if err != nil {
			continue // a path that is nowhere
		}
		after := w.manifest()
		w.touchedOnly(before, after, res)
		if gittest.Diff(before, after) != "" {
			w.backAndForth(before, after)
		}
	}
	w.closeAll()
}

// TestUndoBringsEverythingBack: whatever a restore or a revert did, undo gives back the directory
// as it was, with everything that no capture holds. Redo gives back what the operation made of it.
func TestUndoBringsEverythingBack(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("names, pipes and bits that Windows does not have")
	}
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := &wayWorld{fixture: newFixture(t, gittest.Tree{}), r: rand.New(rand.NewPCG(seed, 1))}
			w.opt.MaxFileSize = 900
			w.run()
		})
	}
}
