package cairn_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// linkedFixture is a root with a git repository.
type linkedFixture struct {
	*fixture
	o *gittest.Oracle
}

var linkedTree = gittest.Tree{
	"a": gittest.File("one\n"), "b": gittest.File("one\n"), "c": gittest.File("one\n"), "gone": gittest.File("gone\n"), "sub/x": gittest.Exec("x"),
	"sub/y": gittest.File("y"), "link": gittest.Link("a"), ".gitignore": gittest.File("*.log\n"), "far/away/z": gittest.File("z"),
}

func newLinked(t *testing.T, flags ...string) *linkedFixture {
	t.Helper()
	f := &linkedFixture{newFixture(t, linkedTree), gittest.NewOracle(t)}
	f.o.Init(f.root, flags...)
	f.o.Commit(f.root, "first")
	f.write("b", "two\n")
	f.o.Commit(f.root, "second")
	return f
}

// besidesGit is the manifest without .git.
func (f *fixture) besidesGit() gittest.Listing {
	f.Helper()
	list := f.manifest()
	maps.DeleteFunc(list, func(path string, _ gittest.Entry) bool { return path == ".git" || strings.HasPrefix(path, ".git/") })
	return list
}

// disturb leaves something of every kind to git status.
func (f *linkedFixture) disturb() {
	f.Helper()
	f.write("a", "not staged\n")
	f.write("b", "staged\n")
	f.write("new", "staged\n")
	f.git("add", "b", "new")
	f.write("b", "staged, and then changed\n")
	f.write("soon", "with intent\n")
	f.git("add", "-N", "soon")
	f.remove("gone")
	f.git("mv", "sub/y", "sub/moved")
	f.git("update-index", "--assume-unchanged", "c")
	f.write("untracked/u", "u")
	f.write("x.log", "ignored")
	f.write(".git/info/exclude", "*.tmp\n")
	f.write("x.tmp", "excluded")
}

func (f *linkedFixture) git(args ...string) string {
	f.Helper()
	return f.o.In(f.root, args...)
}

// forkLinked forks a root as a linked work tree.
func (f *linkedFixture) forkLinked(dir string, opt cairn.ForkOptions) (*linkedFixture, *cairn.ForkResult) {
	f.Helper()
	opt.GitWorktree, opt.Env = true, f.o.Env()
	k, res := f.fork(dir, opt)
	return &linkedFixture{k, f.o}, res
}

// looks is what git says of a work tree, its branch apart.
func (f *linkedFixture) looks() string {
	f.Helper()
	var b strings.Builder
	for _, args := range []string{"status --porcelain=v2", "ls-files --stage -v", "diff", "diff --cached", "rev-parse HEAD", "worktree list", "stash list"} {
		fmt.Fprintf(&b, "git %s:\n%s\n", args, f.git(strings.Fields(args)...))
	}
	return b.String()
}

// sameLooks fails unless git says the same of a fork.
func (f *linkedFixture) sameLooks(k *linkedFixture) {
	f.Helper()
	if here, there := f.looks(), k.looks(); here != there {
		f.Errorf("here:\n%s\nin the fork:\n%s", here, there)
	}
	f.o.Fsck(f.root)
}

func (f *linkedFixture) branches() string {
	f.Helper()
	return f.git("for-each-ref", "--format=%(refname:short)", "refs/heads")
}

// TestForkLinked: git says of the fork what it says of the root. Work there is undone as anywhere, and a
// commit of the fork is on its branch.
func TestForkLinked(t *testing.T) {
	t.Parallel()
	f := newLinked(t)
	first := f.trackAll()
	f.disturb()
	want := f.besidesGit()
	dir := filepath.Join(t.TempDir(), "a try")
	k, res := f.forkLinked(dir, cairn.ForkOptions{})
	if res.Branch != "cairn/a-try" || res.WithoutGit || k.git("symbolic-ref", "HEAD") != "refs/heads/cairn/a-try\n" {
		t.Errorf("%+v", res)
	}
	f.sameLooks(k)
	for _, name := range []string{"x.log", "x.tmp"} {
		delete(want, name)
	}
	gittest.AssertEqual(t, "the fork", want, k.besidesGit())
	assertAlone(t, dir)
	if left, err := filepath.Glob(filepath.Join(f.data, "linking*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if tracked := k.track(); tracked.Changed != 0 {
		t.Errorf("the first capture of the fork: %+v", tracked)
	}
	if err := errors.Join(os.Remove(k.path("a")), os.WriteFile(k.path("x.log"), []byte("ignored"), 0o600)); err != nil {
		t.Fatal(err)
	}
	k.git("commit", "-q", "-a", "-m", "in the fork")
	if list := f.forks(); len(list) != 1 || list[0].Branch != "cairn/a-try" || list[0].Changed != 1 {
		t.Errorf("%+v", list)
	}
	k.restore(first)
	if text, err := os.ReadFile(k.path("a")); string(text) != "one\n" {
		t.Errorf("restored: %q %v", text, err)
	}
	if f.git("log", "--format=%s", "main..cairn/a-try") != "in the fork\n" || f.git("symbolic-ref", "HEAD") != "refs/heads/main\n" {
		t.Error("commits are not where they belong")
	}
}

// TestForkWithoutGit: a fork says that it has no .git.
func TestForkWithoutGit(t *testing.T) {
	t.Parallel()
	f := newLinked(t)
	if _, res := f.fork(copyPlace(t), cairn.ForkOptions{}); !res.WithoutGit || res.Branch != "" || f.branches() != "main\n" {
		t.Errorf("%+v", res)
	}
	plain := newFixture(t, linkedTree)
	if _, res := plain.fork(copyPlace(t), cairn.ForkOptions{}); res.WithoutGit {
		t.Errorf("%+v", res)
	}
}

// TestForkLinkedShapes: repositories of many shapes.
func TestForkLinkedShapes(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, shape := range map[string]func(f *linkedFixture){
		"clean":         func(*linkedFixture) {},
		"everything":    func(f *linkedFixture) { f.disturb() },
		"detached HEAD": func(f *linkedFixture) { f.git("checkout", "-q", "--detach", "HEAD~1"); f.disturb() },
		"split index": func(f *linkedFixture) {
			f.git("update-index", "--split-index")
			f.disturb()
		},
		"index version 4": func(f *linkedFixture) { f.git("update-index", "--index-version", "4"); f.disturb() },
		"untracked cache": func(f *linkedFixture) { f.git("update-index", "--untracked-cache"); f.disturb(); f.git("status") },
		"sparse":          func(f *linkedFixture) { f.git("sparse-checkout", "set", "--cone", "sub"); f.write("a", "2\n") },
		"sparse index": func(f *linkedFixture) {
			f.git("sparse-checkout", "set", "--cone", "--sparse-index", "sub")
			f.write("sub/n", "2\n")
		},
		"no stat but the size": func(f *linkedFixture) {
			f.git("config", "core.checkStat", "minimal")
			f.git("config", "core.trustctime", "false")
			f.disturb()
		},
		"stash": func(f *linkedFixture) { f.write("a", "stashed\n"); f.git("stash", "-q"); f.disturb() },
		"nested repository": func(f *linkedFixture) {
			f.o.Init(f.path("nested"))
			f.write("nested/n", "n")
			f.o.Commit(f.path("nested"), "n")
		},
		"submodule that is not checked out": func(f *linkedFixture) {
			f.git("update-index", "--add", "--cacheinfo", "160000,"+strings.TrimSpace(f.git("rev-parse", "HEAD"))+",module")
			f.git("commit", "-q", "-m", "module")
			f.mkdir("module")
		},
		"work tree beside": func(f *linkedFixture) {
			f.git("worktree", "add", "-q", filepath.Join(f.TempDir(), "try"), "-b", "beside")
		},
		"hooks that fail": func(f *linkedFixture) {
			f.write(".git/hooks/post-checkout", "#!/bin/sh\nexit 1\n")
			os.Chmod(f.path(".git/hooks/post-checkout"), 0o700)
		},
		"no empty directories of git": func(f *linkedFixture) { f.mkdir("empty/dir"); f.disturb() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newLinked(t)
			f.o.NeedVersion(2, 36)
			shape(f)
			k, _ := f.forkLinked(filepath.Join(t.TempDir(), "try"), cairn.ForkOptions{Branch: "topic/" + strings.ReplaceAll(name, " ", "-")})
			f.sameLooks(k)
			if _, err := f.repo().RemoveFork(t.Context(), k.root, cairn.RemoveForkOptions{Env: f.o.Env()}); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(f.branches(), "topic/") || strings.Contains(f.git("worktree", "list"), k.root) {
				t.Errorf("after the removal: %s%s", f.branches(), f.git("worktree", "list"))
			}
		})
	}
}

// TestForkLinkedFormats: other formats of repositories.
func TestForkLinkedFormats(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"sha256": {"--object-format=sha256"}, "reftable": {"--ref-format=reftable"}, "separate": {"--separate-git-dir"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			switch name {
			case "reftable":
				gittest.NewOracle(t).NeedVersion(2, 45)
			case "separate":
				flags = append(flags, filepath.Join(t.TempDir(), "elsewhere"))
			}
			f := newLinked(t, flags...)
			f.write("a", "2\n")
			k, _ := f.forkLinked(filepath.Join(t.TempDir(), "try"), cairn.ForkOptions{})
			f.sameLooks(k)
		})
	}
}

// TestForkLinkedOfLinked: the root is a work tree of a bare repository, or a fork.
func TestForkLinkedOfLinked(t *testing.T) {
	t.Parallel()
	f := newLinked(t)
	base := t.TempDir()
	bare := filepath.Join(base, "bare.git")
	f.o.In(f.root, "clone", "-q", "--bare", ".", bare)
	f.o.In(bare, "worktree", "add", "-q", filepath.Join(base, "tree"), "main")
	w := &linkedFixture{f.in(filepath.Join(base, "tree")), f.o}
	w.write("a", "2\n")
	one, _ := w.forkLinked(filepath.Join(base, "one"), cairn.ForkOptions{})
	w.sameLooks(one)
	one.write("b", "3\n")
	two, _ := one.forkLinked(filepath.Join(base, "two"), cairn.ForkOptions{})
	one.sameLooks(two)
	if got := w.branches(); got != "cairn/one\ncairn/two\nmain\n" {
		t.Errorf("%s", got)
	}
}

// TestForkLinkedInside: the fork lies in an ignored directory of the root.
func TestForkLinkedInside(t *testing.T) {
	t.Parallel()
	f := newLinked(t)
	f.write(".git/info/exclude", "/.worktrees/\n")
	f.mkdir(".worktrees")
	f.write("a", "2\n")
	k, _ := f.forkLinked(f.path(".worktrees/one"), cairn.ForkOptions{})
	f.sameLooks(k)
	if root, err := cairn.FindRootIn(k.path("sub"), f.data); err != nil || root != k.root {
		t.Errorf("the root of the fork is %s, %v", root, err)
	}
	if here, there := f.track(), k.track(); here.Changed+there.Changed != 0 {
		t.Errorf("%+v %+v", here, there)
	}
}

// TestForkLinkedUnrecorded: where the state of git is not recorded, that of now counts.
func TestForkLinkedUnrecorded(t *testing.T) {
	t.Parallel()
	f := newLinked(t)
	f.opt.NoGit = true
	f.disturb()
	k, _ := f.forkLinked(copyPlace(t), cairn.ForkOptions{})
	f.sameLooks(k)
}

// TestForkLinkedAtOnce: of several forks that want one branch, one gets it. The others leave nothing, and may have
// another branch.
func TestForkLinkedAtOnce(t *testing.T) {
	t.Parallel()
	f := newLinked(t)
	f.track()
	const forks = 4
	var dirs [forks]string
	var errs [forks]error
	var all sync.WaitGroup
	for i := range forks {
		dirs[i] = filepath.Join(t.TempDir(), "try")
		repo := f.repo()
		all.Go(func() {
			_, errs[i] = repo.Fork(t.Context(), dirs[i], cairn.ForkOptions{GitWorktree: true, Branch: "topic", Env: f.o.Env()})
		})
	}
	all.Wait()
	made := 0
	for i, err := range errs {
		if err == nil {
			made++
			if head := f.o.In(dirs[i], "symbolic-ref", "HEAD"); head != "refs/heads/topic\n" || f.o.In(dirs[i], "status", "--porcelain") != "" {
				t.Errorf("HEAD of the fork is %s", head)
			}
			continue
		}
		if _, err := os.Lstat(dirs[i]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("left behind: %v", err)
		}
		if _, err := f.repo().Fork(t.Context(), dirs[i], cairn.ForkOptions{GitWorktree: true, Branch: fmt.Sprint("topic-", i), Env: f.o.Env()}); err != nil {
			t.Errorf("another branch: %v", err)
		}
	}
	if list := f.git("worktree", "list"); made != 1 || strings.Count(list, "\n") != forks+1 {
		t.Errorf("%d forks got the branch (%v): %s", made, errs, list)
	}
	if left, err := filepath.Glob(filepath.Join(f.data, "linking*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	f.o.Fsck(f.root)
}

// TestForkLinkedSession: the branch begins at the commit that the session's checkpoint records, with its index.
func TestForkLinkedSession(t *testing.T) {
	t.Parallel()
	f := newLinked(t)
	all := session.New(f.repo())
	if _, err := all.BeginStep(t.Context(), session.StepBegin{Session: "s", Message: "m", Step: "1", Role: session.RoleUser}); err != nil {
		t.Fatal(err)
	}
	f.write("a", "of the session\n")
	f.git("add", "a")
	if _, err := all.EndStep(t.Context(), session.StepEnd{Session: "s", Step: "1"}); err != nil {
		t.Fatal(err)
	}
	want, head := f.git("status", "--porcelain=v2"), f.git("rev-parse", "HEAD")
	f.o.Commit(f.root, "later")
	k, _ := f.forkLinked(copyPlace(t), cairn.ForkOptions{Session: "s"})
	if got := k.git("status", "--porcelain=v2"); got != want || k.git("rev-parse", "HEAD") != head {
		t.Errorf("%s, want %s", got, want)
	}
}

// linkedRefusals counts the kinds of a refusal of a linked fork that an error is of.
func linkedRefusals(err error) (n int) {
	for _, kind := range []error{cairn.ErrExists, cairn.ErrWorktree, cairn.ErrName} {
		if errors.Is(err, kind) {
			n++
		}
	}
	return n
}

// TestForkLinkedRefusals: each is clear, names the next step, and leaves nothing.
func TestForkLinkedRefusals(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for name, c := range map[string]struct {
		shape  func(f *linkedFixture)
		branch string
		says   string
	}{
		"branch exists": {func(f *linkedFixture) { f.git("branch", "taken") }, "taken", "taken exists; git branch -d taken deletes it; --git-worktree=BRANCH names another one"},
		"branch above":  {func(f *linkedFixture) { f.git("branch", "cairn") }, "", "cannot be beside the branch cairn"},
		"branch below":  {func(f *linkedFixture) { f.git("branch", "x/y") }, "x", "cannot be beside the branch x/y"},
		"bad branch":    {nil, "a..b", `unusable name: no branch: git allows none called "a..b"; --git-worktree=BRANCH names another one`},
		"option":        {nil, "-d", `git allows none called "-d"`},
		"previous one":  {func(f *linkedFixture) { f.git("checkout", "-q", "-b", "now") }, "@{-1}", "git allows none"},
		"merge": {func(f *linkedFixture) {
			f.git("checkout", "-q", "-b", "side", "HEAD~1")
			f.write("b", "side\n")
			f.o.Commit(f.root, "side")
			_, _ = f.o.Try(f.root, "merge", "-q", "main")
		}, "", "a merge is under way: git commit finishes it"},
		"rebase": {func(f *linkedFixture) {
			f.git("checkout", "-q", "-b", "side", "HEAD~1")
			f.write("b", "side\n")
			f.o.Commit(f.root, "side")
			_, _ = f.o.Try(f.root, "rebase", "-q", "main")
		}, "", "a rebase is under way"},
		"submodule": {func(f *linkedFixture) {
			f.o.Init(f.path("module"))
			f.o.Commit(f.path("module"), "m")
			f.git("-c", "advice.addEmbeddedRepo=false", "add", "module")
		}, "", `the submodule "module" is checked out`},
		"no repository": {func(f *linkedFixture) { f.remove(".git") }, "", "no git repository"},
		"no commit":     {func(f *linkedFixture) { f.remove(".git"); f.o.Init(f.root) }, "", "no commit is there yet"},
		"below the top": {func(f *linkedFixture) { f.root = f.path("sub"); f.opt.Root = f.root }, "", "a linked work tree is of the whole repository"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newLinked(t)
			if c.shape != nil {
				c.shape(f)
			}
			f.track()
			look := func() string {
				refs, _ := f.o.Try(f.root, "for-each-ref")
				trees, _ := f.o.Try(f.root, "worktree", "list")
				return refs + trees
			}
			before, dir := look(), copyPlace(t)
			for _, dry := range []bool{true, false} {
				opt := cairn.ForkOptions{GitWorktree: true, Branch: c.branch, Env: f.o.Env()}
				opt.DryRun = dry
				_, err := f.repo().Fork(t.Context(), dir, opt)
				if err == nil || !strings.Contains(err.Error(), c.says) || linkedRefusals(err) != 1 {
					t.Errorf("%v, want %q", err, c.says)
				}
			}
			if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || look() != before {
				t.Errorf("left behind: %v %s", err, look())
			}
			if stores, err := cairn.Stores(f.data); err != nil || len(stores) != 1 {
				t.Errorf("%v %v", stores, err)
			}
		})
	}
}
