package gitrestore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
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

func TestMain(m *testing.M) {
	gittest.Prepare()
	m.Run()
}

// world is a repository with a vault, and an Applier.
type world struct {
	*gittest.Oracle
	t     testing.TB
	dir   string
	vault *keep.Vault
	Applier
	n       int  // commits
	lenient bool // git may fail: not every sequence of commands makes sense
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
// With -short it is one format, and a harm beside it has another one.
func formatsFor(i int) []string {
	all := []string{"sha1", "sha256", "sha256 reftable", "reftable"}
	switch {
	case gittest.Stride() == 1:
		return all
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
	again, err := gitstate.Parse(r.Parts())
	w.must(err)
	return again
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

// TestBack: after each harm everything is as before, as far as git tells, and the way back is open:
// the same again leads to the state after the harm.
func TestBack(t *testing.T) {
	t.Parallel()
	known := knownFormats(t)
	for i, name := range slices.Sorted(maps.Keys(harms)) {
		for _, format := range formatsFor(i) {
			if !slices.Contains(known, format) {
				t.Logf("SKIPPED: this git has no %s", format)
				continue
			}
			harm := harms[name]
			t.Run(format+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, formats[format]...)
				w.write("staged", "staged")
				w.git("add", "staged")
				before, want, files := w.record(), w.look(), w.files()
				harm(w)
				after, harmed, left := w.record(), w.look(), w.files()
				if p := w.back(before, after, Parts{}); len(p.Conflicts) > 0 {
					t.Errorf("conflicts %v", p.Conflicts)
				}
				w.putBack(files)
				w.same("back", want)
				if after == nil {
					return
				}
				again := w.record()
				w.back(after, again, Parts{})
				w.putBack(left)
				w.same("and back again", harmed)
			})
		}
	}
}

// TestOnlyWhatTheStepMoved: what another program has moved since stays, and is said.
func TestOnlyWhatTheStepMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.record()
	w.git("branch", "-q", "-D", "a")
	w.git("reset", "-q", "--hard", "HEAD~1")
	after := w.record()
	w.commit() // by the user, on main
	w.git("branch", "mine")
	main := w.git("rev-parse", "main")
	p := w.back(before, after, Parts{Refs: true})
	if len(p.Conflicts) != 1 || p.Conflicts[0].Ref != "refs/heads/main" {
		t.Errorf("conflicts %v", p.Conflicts)
	}
	if w.git("rev-parse", "main") != main {
		t.Error("the user's commit is gone from main")
	}
	w.git("rev-parse", "--verify", "mine")
	w.git("rev-parse", "--verify", "a")
}

// TestParts: only what is asked for goes back.
func TestParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		parts Parts
		want  string
	}{
		"head":  {Parts{Head: true}, "move HEAD to main"},
		"refs":  {Parts{Refs: true}, "create refs/heads/a"},
		"index": {Parts{Index: true}, "replace the index"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := w.record()
			w.git("branch", "-q", "-D", "a")
			w.git("checkout", "-q", "b")
			w.write("more", "more")
			w.git("add", "more")
			p := Make(before, nil, w.record(), c.parts)
			if lines := p.Changes(); len(lines) != 1 || !strings.HasPrefix(lines[0], c.want) {
				t.Errorf("plan %q", lines)
			}
		})
	}
}

// TestRefused: an operation that has begun since the step is not disturbed.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.record()
	w.git("reset", "-q", "--hard", "HEAD~1")
	after := w.record()
	w.write(".git/MERGE_HEAD", w.git("rev-parse", "HEAD"))
	want := w.look()
	p := Make(before, after, w.record(), Parts{})
	if p.Refused == "" {
		t.Errorf("not refused: %q", p.Changes())
	}
	if _, err := w.Apply(context.Background(), p); !errors.Is(err, ErrRefused) {
		t.Error(err)
	}
	w.same("refused", want)
}

// TestMeanwhile: a ref or an index that has moved since the plan was made stays, with all others.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(w *world){
		"ref":   func(w *world) { w.git("update-ref", "refs/heads/b", "HEAD") },
		"index": func(w *world) { w.write("other", "x"); w.git("add", "other") },
		"lock":  func(w *world) { w.write(".git/index.lock", "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before := w.record()
			w.git("branch", "-q", "-D", "a", "b")
			w.git("branch", "b", "HEAD~2")
			w.write("more", "more")
			w.git("add", "more")
			p := Make(before, nil, w.record(), Parts{})
			meanwhile(w)
			os.Remove(filepath.Join(w.dir, ".git", "none"))
			want := w.git("for-each-ref") + w.git("ls-files")
			if _, err := w.Apply(context.Background(), p); err == nil {
				t.Error("carried out")
			}
			if got := w.git("for-each-ref") + w.git("ls-files"); got != want {
				t.Errorf("changed:\n%s\nwas:\n%s", got, want)
			}
		})
	}
}

// TestLinkedWorktree: a branch that another work tree has checked out stays.
func TestLinkedWorktree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.git("worktree", "add", "-q", filepath.Join(filepath.Dir(w.dir), "linked"), "a")
	before := w.record()
	w.git("update-ref", "refs/heads/a", "HEAD~2")
	p := w.back(before, nil, Parts{})
	if len(p.Conflicts) != 1 || !strings.Contains(p.Conflicts[0].Reason, "checked out in") {
		t.Errorf("conflicts %v", p.Conflicts)
	}
}

// TestNoHooks: no hook of the repository runs.
func TestNoHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.record()
	w.git("branch", "-q", "-D", "a")
	ran := filepath.Join(w.t.TempDir(), "ran")
	hooks := filepath.Join(w.dir, ".git", "hooks")
	w.must(os.MkdirAll(hooks, 0o755))
	for _, name := range []string{"reference-transaction", "post-index-change", "post-checkout"} {
		w.must(os.WriteFile(filepath.Join(hooks, name), []byte("#!/bin/sh\ntouch '"+ran+"'\n"), 0o755))
	}
	w.back(before, nil, Parts{})
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a hook ran")
	}
	w.git("rev-parse", "--verify", "a")
}

// TestReflog: each ref says in its reflog that it was moved, and why.
func TestReflog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.record()
	w.git("reset", "-q", "--hard", "HEAD~2")
	w.back(before, nil, Parts{})
	for _, ref := range []string{"HEAD", "main"} {
		if log := w.git("reflog", "-1", ref); !strings.Contains(log, "cairn: test") {
			t.Errorf("reflog of %s: %s", ref, log)
		}
	}
}

// TestTornStashes: a list whose ref and reflog differ, as a git leaves it that is cut short, is mended.
func TestTornStashes(t *testing.T) {
	t.Parallel()
	for name, tear := range map[string]func(w *world){
		"log ahead": func(w *world) {
			w.write(".git/refs/stash", w.git("rev-parse", "stash@{1}"))
		},
		"ref gone":  func(w *world) { w.must(os.Remove(filepath.Join(w.dir, ".git", "refs", "stash"))) },
		"ref alone": func(w *world) { w.must(os.Remove(filepath.Join(w.dir, ".git", "logs", "refs", "stash"))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			before, want := w.record(), w.look()
			tear(w)
			w.back(before, nil, Parts{})
			w.same("mended", want)
		})
	}
}

// TestRandom: any sequence of commands goes back.
func TestRandom(t *testing.T) {
	t.Parallel()
	names := make([]string, 0, len(harms))
	for name := range harms {
		if name != "rm -rf .git" && name != "orphan" {
			names = append(names, name)
		}
	}
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	known := knownFormats(t)
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(uint64(seed), 1))
			w := newWorld(t, formats[known[seed%len(known)]]...)
			before, want, files := w.record(), w.look(), w.files()
			w.lenient = true
			var done []string
			for range 1 + rnd.IntN(5) {
				name := names[rnd.IntN(len(names))]
				done = append(done, name)
				harms[name](w)
				w.record()
			}
			w.lenient = false
			w.back(before, w.record(), Parts{})
			w.putBack(files)
			w.same(fmt.Sprintf("back from %q", done), want)
		})
	}
}
