package gitrestore

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/odb/keep"
)

// originals are the repositories that worlds begin as, by the arguments of git init.
var originals gittest.Originals

// world is a repository with a vault, and an Applier.
type world struct {
	*gittest.Oracle
	t     testing.TB
	dir   string
	vault *keep.Vault
	Applier
	n       int  // commits
	lenient bool // git may fail: not every sequence of commands makes sense
	records int  // that were read: the index of every other one has a name, if it can have one
}

func newWorld(t testing.TB, args ...string) *world {
	t.Helper()
	gittest.NeedGit(t)
	o := gittest.NewOracle(t)
	top := t.TempDir()
	binary, err := git.LookBinary()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Oracle: o, t: t, dir: filepath.Join(top, "w"), vault: keep.At(filepath.Join(top, "vault"), false), n: 4}
	w.Applier = Applier{Git: binary, Vault: w.vault.Dir(), Note: "cairn: test"}
	originals.Copy(t, w.dir, strings.Join(args, " "), func(dir string) {
		(&world{Oracle: o, t: t, dir: o.Init(dir, args...)}).fill()
	})
	w.git("update-index", "-q", "--refresh")
	return w
}

// fill makes four commits, refs of every kind, and three stashes.
func (w *world) fill() {
	for range 4 {
		w.commit()
	}
	w.git("branch", "a")
	w.git("branch", "b", "HEAD~1")
	w.git("tag", "-a", "-m", "t", "v1")
	w.git("update-ref", "refs/keep/it", "HEAD")
	w.git("symbolic-ref", "refs/alias", "refs/keep/it")
	w.git("symbolic-ref", "refs/direct", "refs/keep/it")
	for _, text := range []string{"x", "y", "z"} {
		w.write("file", text)
		w.git("stash", "push", "-q", "-m", text)
	}
}

// formats are the arguments of git init for kinds of repositories, by name.
var formats = map[string][]string{
	"sha1": {"--object-format=sha1"}, "sha256": {"--object-format=sha256"},
	"reftable": {"--ref-format=reftable"}, "sha256 reftable": {"--object-format=sha256", "--ref-format=reftable"},
}

// formatsFor returns the formats in which the ith harm is done: each format of refs and each hash.
// With -short it is one format for one harm in three, and the next one has another format.
func formatsFor(i int) []string {
	all := []string{"sha1", "sha256", "sha256 reftable", "reftable"}
	switch {
	case gittest.Stride() == 1:
		return all
	case testing.Short() && i%3 > 0:
		return nil
	case testing.Short():
		return all[i%4 : i%4+1]
	}
	return []string{all[i%2], all[i%2+2]}
}

// knownFormats are those that this git knows.
func knownFormats(t *testing.T) []string {
	t.Helper()
	gittest.NeedGit(t)
	known := slices.Sorted(maps.Keys(formats))
	if !gittest.NewOracle(t).AtLeast(2, 45) {
		known = slices.DeleteFunc(known, isReftable)
	}
	return known
}

func isReftable(format string) bool { return strings.Contains(format, "reftable") }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	if w.lenient {
		out, _ := w.Try(w.dir, args...)
		return out
	}
	return w.In(w.dir, args...)
}

func (w *world) write(name, text string) {
	w.t.Helper()
	w.must(os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644))
}

func (w *world) commit() {
	w.t.Helper()
	w.n++
	w.write("file", fmt.Sprintln(w.n))
	w.write(fmt.Sprint("file", w.n), "")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", fmt.Sprint("commit ", w.n))
}

// record keeps the objects and reads the state, nil where there is no repository.
func (w *world) record() *gitstate.Record {
	w.t.Helper()
	repo, err := git.Find(w.dir)
	w.must(err)
	if repo == nil {
		return nil
	}
	r, _, err := (&gitstate.Reader{Repo: repo, Git: w.Applier.Git}).Read(context.Background())
	w.must(err)
	_, err = w.vault.Keep(context.Background(), repo.ObjectDirs(), keep.Options{SHA256: repo.SHA256})
	w.must(err)
	w.must(w.vault.SetShallow(r.Files["common/shallow"]))
	if w.records++; w.records%2 == 1 {
		w.nameIndex(r)
	}
	again, err := gitstate.Parse(r.Parts())
	w.must(err)
	return again
}

// nameIndex names the index by its tree, if that is the one of HEAD, and reports whether it is.
func (w *world) nameIndex(r *gitstate.Record) bool {
	w.t.Helper()
	tree, err := w.Try(w.dir, "rev-parse", "-q", "--verify", "HEAD^{tree}")
	sum := r.IndexSum()
	if err != nil || sum.Tree != strings.TrimSpace(tree) {
		return false
	}
	r.NameIndex(sum)
	return true
}

// files are the contents of the work tree, which go back by other means.
func (w *world) files() map[string]string {
	w.t.Helper()
	list, err := os.ReadDir(w.dir)
	w.must(err)
	files := make(map[string]string)
	for _, e := range list {
		if !e.IsDir() {
			data, err := os.ReadFile(filepath.Join(w.dir, e.Name()))
			w.must(err)
			files[e.Name()] = string(data)
		}
	}
	return files
}

func (w *world) putBack(files map[string]string) {
	w.t.Helper()
	for name := range w.files() {
		w.must(os.Remove(filepath.Join(w.dir, name)))
	}
	for name, text := range files {
		w.write(name, text)
	}
}

// look is what git says of the repository.
func (w *world) look() string {
	w.t.Helper()
	var b strings.Builder
	for _, args := range []string{
		"for-each-ref --format=%(refname)|%(objectname)|%(symref)", "stash list", "ls-files --stage -v", "status --porcelain=v2 --branch --untracked-files=no", "status --untracked-files=no", "config --local --list",
	} {
		out, err := w.Try(w.dir, strings.Fields(args)...)
		fmt.Fprintf(&b, "git %s: %v\n%s", args, err, out)
	}
	head, err := w.Try(w.dir, "symbolic-ref", "-q", "HEAD")
	at, err2 := w.Try(w.dir, "rev-parse", "-q", "--verify", "HEAD")
	fmt.Fprintf(&b, "HEAD %s %v %s %v", head, err != nil, at, err2 != nil)
	return b.String()
}

// back goes to a state by way of a plan.
func (w *world) back(target, base *gitstate.Record, parts Parts) *Plan {
	w.t.Helper()
	p := Make(target, base, w.record(), parts)
	if failures, err := w.Apply(context.Background(), p); err != nil || len(failures) > 0 {
		w.t.Fatalf("%v %v\nof %q", err, failures, p.Changes())
	}
	return p
}

func (w *world) same(what, want string) {
	w.t.Helper()
	if got := w.look(); got != want {
		w.t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
	w.Fsck(w.dir)
}

// harms are what agents do to repositories.
var harms = map[string]func(w *world){
	"reset":        func(w *world) { w.git("reset", "-q", "--hard", "HEAD~2") },
	"reset and gc": func(w *world) { w.git("reset", "-q", "--hard", "HEAD~2"); w.lose() },
	"amend":        func(w *world) { w.git("commit", "-q", "--amend", "--allow-empty", "-m", "amended"); w.lose() },
	"rebase": func(w *world) {
		w.commit()
		w.git("rebase", "-q", "-X", "theirs", "--onto", "HEAD~3", "HEAD~1")
		w.lose()
	},
	"stash drop":  func(w *world) { w.git("stash", "drop", "-q", "stash@{1}"); w.lose() },
	"stash clear": func(w *world) { w.git("stash", "clear"); w.lose() },
	"stash pop":   func(w *world) { w.git("stash", "pop", "-q"); w.git("reset", "-q", "--hard"); w.lose() },
	"branch -D":   func(w *world) { w.git("branch", "-q", "-D", "a", "b"); w.lose() },
	"branch":      func(w *world) { w.git("branch", "new") },
	"rename":      func(w *world) { w.git("branch", "-m", "a", "dir/a"); w.git("branch", "-m", "dir/a", "a/b") },
	"tag":         func(w *world) { w.git("tag", "-d", "v1"); w.git("tag", "v2"); w.lose() },
	"switch":      func(w *world) { w.git("checkout", "-q", "b") },
	"detach":      func(w *world) { w.git("checkout", "-q", "--detach", "HEAD~1") },
	"orphan":      func(w *world) { w.git("checkout", "-q", "--orphan", "fresh"); w.git("branch", "-q", "-D", "main") },
	"index":       func(w *world) { w.git("rm", "-q", "--cached", "file"); w.write("more", "more"); w.git("add", "more") },
	"symbolic": func(w *world) {
		w.git("symbolic-ref", "refs/remotes/o/HEAD", "refs/keep/it")
		w.git("symbolic-ref", "-d", "refs/alias")
		w.git("update-ref", "--no-deref", "refs/direct", "HEAD~1")
	},
	"filter":      func(w *world) { w.git("update-ref", "refs/heads/main", w.tree(), "HEAD"); w.lose() },
	"rm -rf .git": func(w *world) { w.must(os.RemoveAll(filepath.Join(w.dir, ".git"))) },
	"packed":      func(w *world) { w.git("pack-refs", "--all"); w.git("branch", "-q", "-D", "a"); w.commit() },
	"all of it": func(w *world) {
		w.commit()
		w.git("checkout", "-q", "-B", "a", "HEAD~2")
		w.git("stash", "clear")
		w.git("branch", "-D", "main")
		w.lose()
	},
	"split index":           func(w *world) { w.git("update-index", "--split-index"); w.commit(); w.git("reset", "-q", "HEAD~1") },
	"assume":                func(w *world) { w.git("update-index", "--assume-unchanged", "file") },
	"only a commit":         func(w *world) { w.commit() },
	"intent to add":         func(w *world) { w.write("more", "more"); w.git("add", "-N", "more") },
	"skip worktree":         func(w *world) { w.git("update-index", "--skip-worktree", "file") },
	"merge":                 func(w *world) { w.diverge(); w.stops("merge", "-q", "side") },
	"merge, aborted":        func(w *world) { w.diverge(); w.stops("merge", "-q", "side"); w.git("merge", "--abort"); w.lose() },
	"squash":                func(w *world) { w.diverge(); w.stops("merge", "-q", "--squash", "side") },
	"cherry-pick":           func(w *world) { w.diverge(); w.stops("cherry-pick", "side") },
	"several picks":         func(w *world) { w.diverge(); w.stops("cherry-pick", "side~1", "side") },
	"revert":                func(w *world) { w.git("reset", "-q", "--hard"); w.stops("revert", "--no-edit", "HEAD~1") },
	"stopped rebase":        func(w *world) { w.diverge(); w.stops("rebase", "-q", "side") },
	"stopped rebase, apply": func(w *world) { w.diverge(); w.stops("rebase", "-q", "--apply", "side") },
	"bisect":                func(w *world) { w.git("reset", "-q", "--hard"); w.git("bisect", "start", "HEAD", "HEAD~3") },
}

// diverge makes a branch that conflicts with the present one.
func (w *world) diverge() {
	w.t.Helper()
	w.git("reset", "-q", "--hard")
	w.git("checkout", "-q", "-B", "side", "HEAD~1")
	w.commit()
	w.commit()
	w.git("checkout", "-q", "main")
}

// stops runs a command that stops at a conflict.
func (w *world) stops(args ...string) {
	w.t.Helper()
	if out, err := w.Try(w.dir, args...); err == nil && args[len(args)-2] != "--squash" && !w.lenient {
		w.t.Fatalf("git %q goes through:\n%s", args, out)
	}
}

func (w *world) tree() string {
	w.t.Helper()
	return strings.TrimSpace(w.git("commit-tree", "-m", "rewritten", "HEAD^{tree}"))
}

// lose drops everything that nothing leads to. Lists of stashes survive.
func (w *world) lose() {
	w.t.Helper()
	for _, ref := range []string{"HEAD", "refs/heads/main"} {
		_, _ = w.Try(w.dir, "reflog", "expire", "--expire=now", ref)
	}
	w.git("gc", "-q", "--prune=now")
}
