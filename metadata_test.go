package cairn_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestMetadataOfHistories: the metadata of a checkpoint are those that an empty store
// would record, whatever has changed since, and however many directories have metadata.
func TestMetadataOfHistories(t *testing.T) {
	t.Parallel()
	for _, odd := range []int{0, 5, 300} {
		for _, watch := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d empty directories, watching %v", odd, watch), func(t *testing.T) {
				t.Parallel()
				h := &history{fixture: newFixture(t, historyTree()), rnd: rand.New(rand.NewPCG(1, uint64(odd)))}
				for i := range odd {
					h.mkdir(fmt.Sprintf("empty/%d", i))
				}
				h.opt.MaxFileSize = 100
				opt := h.opt
				opt.Watch = watch
				for range gittest.Rounds(12) {
					r, err := cairn.Open(opt)
					if err != nil {
						t.Fatal(err)
					}
					for range 1 + h.rnd.IntN(6) {
						h.edit()
						h.sameMetadata(r)
					}
					r.Close()
				}
			})
		}
	}
}

// TestCommonBitsChange: other bits become the common ones, though nothing changes that has
// uncommon ones.
func TestCommonBitsChange(t *testing.T) {
	t.Parallel()
	h := &history{fixture: newFixture(t, gittest.Tree{
		"a": gittest.File("a"), "b": gittest.File("b"), "c": gittest.File("c"), "d": gittest.File("d"), "e": gittest.File("e"),
	})}
	for _, name := range []string{"d", "e"} {
		if err := os.Chmod(h.path(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := h.repo()
	h.sameMetadata(r)
	h.write("a", "edited")
	h.sameMetadata(r)
	h.remove("a")
	h.remove("b")
	h.sameMetadata(r)
	h.sameMetadata(h.repo())
}

func historyTree() gittest.Tree {
	tree := gittest.Tree{".gitignore": gittest.File("*.o\n")}
	for i := range 40 {
		tree[fmt.Sprintf("d%d/e%d/f", i%8, i%5)] = gittest.File(fmt.Sprint(i))
		tree[fmt.Sprintf("d%d/g%d", i%8, i)] = gittest.File(fmt.Sprint(i))
	}
	return tree
}

type history struct {
	*fixture
	rnd *rand.Rand
}

func (h *history) mkdir(path string) {
	h.Helper()
	if err := os.MkdirAll(h.path(path), 0o755); err != nil {
		h.Fatal(err)
	}
}

// edit makes a change that metadata record, or one that they do not.
func (h *history) edit() {
	h.Helper()
	n := h.rnd.IntN
	dir, name := fmt.Sprintf("d%d", n(8)), fmt.Sprintf("g%d", n(40))
	switch n(9) {
	case 0, 1, 2:
		h.write(filepath.Join(dir, name), fmt.Sprint("edit ", n(1000)))
	case 3:
		if h.exists(filepath.Join(dir, name)) {
			if err := os.Chmod(h.path(filepath.Join(dir, name)), []os.FileMode{0o600, 0o644, 0o755, 0o700}[n(4)]); err != nil {
				h.Fatal(err)
			}
		}
	case 4:
		h.mkdir(fmt.Sprintf("%s/empty%d", dir, n(4)))
	case 5:
		h.remove(fmt.Sprintf("%s/empty%d", dir, n(4)))
	case 6:
		h.write(filepath.Join(dir, "large"), strings.Repeat("x", 90+n(20)))
	case 7:
		h.write(fmt.Sprintf("%s/empty%d/%s", dir, n(4), []string{"f", "f.o"}[n(2)]), "no longer empty")
	case 8:
		h.remove(fmt.Sprintf("%s/e%d", dir, n(5)))
	}
}

// sameMetadata compares a track with one into a fresh store.
func (h *history) sameMetadata(r *cairn.Repo) {
	h.Helper()
	got, err := r.Track(h.Context(), cairn.TrackOptions{})
	if err != nil {
		h.Fatal(err)
	}
	fresh := h.freshStore()
	defer fresh.Close()
	want, err := fresh.Track(h.Context(), cairn.TrackOptions{})
	if err != nil {
		h.Fatal(err)
	}
	if a, b := headerOf(h.T, r, got.Checkpoint), headerOf(h.T, fresh, want.Checkpoint); got.Hash != want.Hash || a != b {
		h.Fatalf("%s with\n%s\na fresh store has %s with\n%s", got.Hash, a, want.Hash, b)
	}
}

// headerOf is what a checkpoint says of its tree.
func headerOf(t *testing.T, r *cairn.Repo, id string) string {
	t.Helper()
	text := gittest.NewOracle(t).In(r.StoreDir(), "cat-file", "commit", id)
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "cairn "); ok {
			return value
		}
	}
	t.Fatalf("no header in %s", text)
	return ""
}
