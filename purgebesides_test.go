package cairn_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// TestPurgeBesides: a purge names the stores of forks, of forks of forks, of the first directory and of other
// work trees of git that hold the contents, and no store of another project.
func TestPurgeBesides(t *testing.T) {
	t.Parallel()
	o := gittest.NewOracle(t)
	secret := gittest.Tree{"key": gittest.File("secret\n"), "empty": gittest.File(""), "a": gittest.File("a\n")}
	f := newFixture(t, secret)
	o.Init(f.root)
	o.Commit(f.root, "first")
	tree := f.in(filepath.Join(t.TempDir(), "tree"))
	o.In(f.root, "worktree", "add", "-q", tree.root)
	tree.track()
	unrelated := f.in(filepath.Join(t.TempDir(), "unrelated"))
	gittest.Create(t, unrelated.root, secret)
	unrelated.track()
	f.track()
	base := t.TempDir()
	one, _ := f.fork(filepath.Join(base, "one"), cairn.ForkOptions{})
	below, _ := one.fork(filepath.Join(base, "below"), cairn.ForkOptions{})
	two, _ := f.fork(filepath.Join(base, "two"), cairn.ForkOptions{})
	two.closeAll()
	if err := os.RemoveAll(two.root); err != nil {
		t.Fatal(err)
	}
	f.remove("key")
	f.track()
	late, _ := f.fork(filepath.Join(base, "late"), cairn.ForkOptions{})
	purge := func(f *fixture, want ...*fixture) {
		t.Helper()
		res, err := f.repo().Purge(t.Context(), []string{f.path("key"), f.path("empty")})
		if err != nil {
			t.Fatal(err)
		}
		var roots, wanted []string
		for _, h := range res.Besides {
			roots = append(roots, string(h.Root))
			if string(h.Store) != cairn.StorePath(f.data, string(h.Root)) || h.Missing != (string(h.Root) == two.root) || h.Unneeded {
				t.Errorf("%+v", h)
			}
		}
		for _, w := range want {
			wanted = append(wanted, w.root)
		}
		slices.Sort(wanted)
		if !slices.Equal(roots, wanted) {
			t.Errorf("%s: %q, want %q", f.root, roots, wanted)
		}
	}
	purge(f, one, below, two, late, tree)
	purge(below, one, two, late, tree)
	purge(tree, one, two, late)
	purge(late, one, two)
	purge(one, two)
	if text := readAt(t, unrelated, "@", "key"); text != "secret\n" {
		t.Errorf("%q", text)
	}
}

// TestPurgeBesidesUnneeded: a store whose checkpoints do not lead to the contents needs a cleaning. A purge
// would find nothing there.
func TestPurgeBesidesUnneeded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	f.track()
	k, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
	k.write("key", "secret of the fork\n")
	k.track()
	if _, err := f.repo().Compare(t.Context(), []cairn.MergeSource{{Repo: k.repo()}}, cairn.CompareOptions{}); err != nil {
		t.Fatal(err)
	}
	purge := func() []cairn.PurgeHolder {
		t.Helper()
		res, err := k.repo().Purge(t.Context(), []string{k.path("key")})
		if err != nil {
			t.Fatal(err)
		}
		return res.Besides
	}
	o, store := gittest.NewOracle(t), cairn.StorePath(f.data, f.root)
	id := strings.TrimSpace(o.Feed(store, k.read("key"), "hash-object", "--stdin"))
	if _, err := o.Try(store, "cat-file", "-e", id); err != nil {
		t.Fatal("the comparison has not brought it:", err)
	}
	if list := purge(); len(list) != 1 || string(list[0].Root) != f.root || !list[0].Unneeded {
		t.Fatalf("%+v", list)
	}
	if _, err := f.repo().Clean(t.Context(), cairn.CleanOptions{Thorough: true}); err != nil {
		t.Fatal(err)
	}
	f.closeAll()
	if out, err := o.Try(store, "cat-file", "-e", id); err == nil {
		t.Error("it is there after a thorough cleaning", out)
	}
}

// TestPurgedThatComesWithAFork: a comparison and a merge bring the state of a fork, and say which purged paths it holds.
func TestPurgedThatComesWithAFork(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"a": gittest.File("a\n"), "key": gittest.File("secret\n")})
	f.track()
	k, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
	f.purge("key")
	k.write("b", "b\n")
	k.track()
	var log bytes.Buffer
	f.opt.Logger = slog.New(slog.NewTextHandler(&log, nil))
	told := func(how string) {
		t.Helper()
		if text := log.String(); !strings.Contains(text, how) || !strings.Contains(text, "paths=key count=1") {
			t.Errorf("the log does not say %q: %s", how, text)
		}
		log.Reset()
	}
	if _, err := f.repo().Compare(t.Context(), []cairn.MergeSource{{Repo: k.repo()}}, cairn.CompareOptions{}); err != nil {
		t.Fatal(err)
	}
	told("cairn gc --thorough takes it out")
	if _, err := f.repo().Merge(t.Context(), cairn.MergeSource{Repo: k.repo()}, cairn.MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	told("the same cairn purge takes it out")
}

// TestPurgeInAFork: the stat cache that a fork's was written beside names purged contents, too, and goes.
func TestPurgeInAFork(t *testing.T) {
	t.Parallel()
	f := newFixture(t, gittest.Tree{"key": gittest.File(secret), "a": gittest.File("a\n")})
	f.track()
	k, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
	id := object.Sum(object.Blob, []byte(secret))
	if found := k.traces(string(id[:])); len(found) == 0 {
		t.Fatal("the store has never named the contents")
	}
	k.purge("key")
	k.wantNoTrace(string(id[:]))
	k.wantNoTrace(secret[:40])
	k.write("a", "changed\n")
	k.track()
	k.wantNoTrace(string(id[:]))
}

// TestMergeAfterAPurge: a purge gives checkpoints new ids in one store alone. The two directories still know the state
// that both come from.
func TestMergeAfterAPurge(t *testing.T) {
	t.Parallel()
	for name, purged := range map[string]func(f, k *fixture) []*fixture{
		"here":  func(f, _ *fixture) []*fixture { return []*fixture{f} },
		"there": func(_, k *fixture) []*fixture { return []*fixture{k} },
		"both":  func(f, k *fixture) []*fixture { return []*fixture{f, k, f} },
	} {
		f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("1\n"), "key": gittest.File("secret\n")})
		f.track()
		k, _ := f.fork(copyPlace(t), cairn.ForkOptions{})
		f.write("b", "2\n")
		f.track()
		k.write("a", "2\n")
		k.track()
		for i, x := range purged(f, k) {
			x.purge([]string{"key", "key", "b"}[i])
		}
		res := f.merge(k, cairn.MergeOptions{})
		if !slices.Equal(res.Restored, cairn.Paths{"a"}) || len(res.Deleted)+len(res.Conflicts) > 0 {
			t.Errorf("purged %s: %+v", name, res)
		}
		if got := f.read("a") + f.read("b") + f.read("key"); got != "2\n2\nsecret\n" {
			t.Errorf("purged %s: %q", name, got)
		}
	}
}
