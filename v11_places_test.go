package cairn_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// What another place still holds comes back from there, and nothing is cut out.
func TestV11_LostIsBroughtBack(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	everything := func(w *lostWorld) []string {
		return []string{w.days[1] + ":a", w.days[1] + ":d/e", w.days[1] + ":d", w.days[2] + "^{tree}", w.today[1], w.line[2], "refs/cairn/operations~1"}
	}
	for name, c := range map[string]struct {
		prepare func(w *lostWorld) (from string)
		lose    func(w *lostWorld) []string
		said    string
	}{
		"files on the disk, moved and ignored": {func(w *lostWorld) string {
			w.write(".gitignore", "hidden\n")
			w.write("hidden/elsewhere", w.want[w.days[1]]["a"])
			return ""
		}, func(w *lostWorld) []string { return []string{w.days[1] + ":a"} }, "the disk"},
		"directories on the disk": {func(w *lostWorld) string {
			for path, content := range w.want[w.today[1]] {
				w.write(path, content)
			}
			return ""
		}, func(w *lostWorld) []string {
			return []string{w.today[1] + ":d/e", w.today[1] + ":d", w.today[1] + ":a", w.today[1] + "^{tree}"}
		}, "the disk"},
		"the project's repository": {func(w *lostWorld) string {
			w.o.Git("init", "--quiet", w.root)
			w.fill("today 0")
			w.o.In(w.root, "add", "-A")
			w.fill("unlike")
			return ""
		}, func(w *lostWorld) []string { return []string{w.today[0] + ":a", w.today[0] + ":d/e/y"} }, "the project's repository"},
		"the project's repository without an index": {func(w *lostWorld) string {
			w.o.Git("init", "--quiet", w.root)
			w.fill("today 0")
			w.o.In(w.root, "hash-object", "-w", "a")
			w.fill("unlike")
			return ""
		}, func(w *lostWorld) []string { return []string{w.today[0] + ":a"} }, "the project's repository"},
		"another store": {func(w *lostWorld) string {
			other := newFixture(w.T, nil)
			other.data, other.opt.DataDir = w.data, w.data
			other.write("b", w.want[w.today[0]]["a"])
			other.trackAll()
			other.closeAll()
			return ""
		}, func(w *lostWorld) []string { return []string{w.today[0] + ":a"} }, "the store "},
		"a store given":      {func(w *lostWorld) string { return w.copied("copy") }, everything, "copy"},
		"a data dir given":   {func(w *lostWorld) string { w.copied("data/snapshot/copy"); return w.path("../data") }, everything, "data"},
		"a repository":       {func(w *lostWorld) string { return w.pushed() }, everything, "remote"},
		"a repository's URL": {func(w *lostWorld) string { return "file://" + filepath.ToSlash(w.pushed()) }, everything, "file://"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newLostWorld(t)
			w.unlike()
			opt := cairn.CheckOptions{Fix: true, From: c.prepare(w)}
			w.lose(c.lose(w)...)
			back := 0
			for _, f := range w.check(opt) {
				if !f.Fixed {
					t.Errorf("finding %+v", f)
				}
				if strings.HasPrefix(f.Repair, "bring it back from ") && strings.Contains(f.Repair, c.said) {
					back++
				}
			}
			if back == 0 {
				t.Error("nothing is back")
			}
			if losses := w.mended(); len(losses) > 0 {
				t.Errorf("losses %+v", losses)
			}
		})
	}
}

// copied copies the store.
func (w *lostWorld) copied(name string) string {
	w.Helper()
	to := w.path("../" + name)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(w.store)); err != nil {
		w.Fatal(err)
	}
	return to
}

// pushed pushes the store to a repository.
func (w *lostWorld) pushed() string {
	w.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		w.Skip("there is no git")
	}
	to := w.path("../remote")
	w.o.Git("init", "--quiet", "--bare", to)
	if _, err := w.repo().Push(background, to); err != nil {
		w.Fatal(err)
	}
	w.closeAll()
	return to
}

// Fetch compares objects, not only refs.
func TestV11_FetchBringsBackLostObjects(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	w := newLostWorld(t)
	w.unlike()
	remote := w.pushed()
	if got, err := w.repo().Fetch(background, remote); err != nil || len(got) > 0 {
		t.Errorf("fetched %v, %v", got, err)
	}
	w.closeAll()
	w.lose(w.days[1]+":a", w.days[2]+"^{tree}", w.line[2])
	got, err := w.repo().Fetch(background, remote)
	if err != nil || len(got) != 3 {
		t.Errorf("fetched %v, %v", got, err)
	}
	w.closeAll()
	if losses := w.mended(); len(losses) > 0 {
		t.Errorf("losses %+v", losses)
	}
}
