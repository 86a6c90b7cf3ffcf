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
	"syscall"
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
	dir := filepath.Join(t.TempDir(), "try")
	k, res := f.forkLinked(dir, cairn.ForkOptions{})
	if res.Branch != "cairn/try" || res.WithoutGit || k.git("symbolic-ref", "HEAD") != "refs/heads/cairn/try\n" {
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
	if list := f.forks(); len(list) != 1 || list[0].Branch != "cairn/try" || list[0].Changed != 1 {
		t.Errorf("%+v", list)
	}
	k.restore(first)
	if text, err := os.ReadFile(k.path("a")); string(text) != "one\n" {
		t.Errorf("restored: %q %v", text, err)
	}
	if f.git("log", "--format=%s", "main..cairn/try") != "in the fork\n" || f.git("symbolic-ref", "HEAD") != "refs/heads/main\n" {
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
		"bad branch":    {nil, "a..b", `git allows no branch called "a..b"`},
		"option":        {nil, "-d", `git allows no branch called "-d"`},
		"previous one":  {func(f *linkedFixture) { f.git("checkout", "-q", "-b", "now") }, "@{-1}", "git allows no branch"},
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
				if err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, cairn.ErrExists) == errors.Is(err, cairn.ErrWorktree) {
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

// TestRemoveLinked: the branch stays where it has commits of its own, and a removal refuses to lose commits.
func TestRemoveLinked(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	own := []string{"commit", "-q", "--allow-empty", "-m", "own"}
	for name, c := range map[string]struct {
		work       func(f, k *linkedFixture)
		lost, kept string
	}{
		"nothing done":    {func(_, _ *linkedFixture) {}, "", ""},
		"a commit":        {func(_, k *linkedFixture) { k.git(own...) }, "", "1 commit of its own"},
		"a merged commit": {func(f, k *linkedFixture) { k.git(own...); f.git("branch", "also", "cairn/copy") }, "", ""},
		"another branch": {func(_, k *linkedFixture) {
			k.git("checkout", "-q", "-b", "also")
			k.git("branch", "-D", "-q", "cairn/copy")
		}, "", ""},
		"detached": {func(_, k *linkedFixture) { k.git("checkout", "-q", "--detach") }, "", ""},
		"detached commits": {func(_, k *linkedFixture) { k.git("checkout", "-q", "--detach"); k.git(own...) },
			"HEAD is detached, with 1 commit that is on no branch", ""},
		"locked": {func(f, k *linkedFixture) { f.git("worktree", "lock", k.root) }, "locked by git worktree lock", ""},
		"bisect": {func(_, k *linkedFixture) { k.git("bisect", "start") }, "a bisect is under way", ""},
		"checked out elsewhere": {func(f, k *linkedFixture) {
			k.git("checkout", "-q", "--detach")
			f.git("worktree", "add", "-q", filepath.Join(f.TempDir(), "other"), "cairn/copy")
		}, "", "cairn/copy"},
		"pruned by git":     {func(f, k *linkedFixture) { k.remove(".git"); f.git("worktree", "prune") }, "", ""},
		"removed by git":    {func(f, k *linkedFixture) { f.git("worktree", "remove", "--force", k.root) }, "", ""},
		"directory is gone": {func(_, k *linkedFixture) { os.RemoveAll(k.root) }, "", ""},
		"moved by git": {func(f, k *linkedFixture) {
			f.git("worktree", "move", k.root, filepath.Join(f.TempDir(), "moved"))
		}, "", "cairn/copy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newLinked(t)
			f.write("a", "2\n")
			k, _ := f.forkLinked(copyPlace(t), cairn.ForkOptions{})
			c.work(f, k)
			k.closeAll()
			opt := cairn.RemoveForkOptions{Env: f.o.Env()}
			if c.lost != "" {
				res, err := f.repo().RemoveFork(t.Context(), k.root, opt)
				if !errors.Is(err, cairn.ErrUnmerged) || len(res.Lost) != 1 || res.Lost[0] != (cairn.PathReason{Path: ".git", Reason: c.lost}) {
					t.Fatalf("%+v %v", res, err)
				}
				opt.Force = true
			}
			res, err := f.repo().RemoveFork(t.Context(), k.root, opt)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(res.BranchKept, c.kept) || (res.BranchKept == "") != (c.kept == "") ||
				(c.kept == "") == strings.Contains(f.branches(), "cairn/copy") {
				t.Errorf("%+v, branches %s", res, f.branches())
			}
			if list := f.git("worktree", "list"); strings.Contains(list, k.root+" ") {
				t.Errorf("%s", list)
			}
			f.o.Fsck(f.root)
		})
	}
}

// TestRemoveLinkedStaged: contents that only the index has are listed. Those that the file has, too, or HEAD,
// are not.
func TestRemoveLinkedStaged(t *testing.T) {
	t.Parallel()
	f := newLinked(t)
	k, _ := f.forkLinked(copyPlace(t), cairn.ForkOptions{})
	for _, path := range []string{"a", "new", "sub/y"} {
		k.write(path, "staged alone\n")
	}
	k.write("b", "staged, and so in the file\n")
	k.git("add", "-A")
	k.write("a", "one\n")
	k.remove("new")
	k.write("sub/y", "y")
	k.git("rm", "-q", "--cached", "c") // the file stays
	k.write("far/away/z", "never staged\n")
	k.closeAll()
	opt := cairn.RemoveForkOptions{Env: f.o.Env()}
	res, err := f.repo().RemoveFork(t.Context(), k.root, opt)
	if !errors.Is(err, cairn.ErrUnmerged) {
		t.Fatalf("%+v %v", res, err)
	}
	wantStaged(t, res, "a new sub/y")
	opt.Force = true
	if _, err := f.repo().RemoveFork(t.Context(), k.root, opt); err != nil {
		t.Fatal(err)
	}
}

// wantStaged compares the paths that a removal lists as staged alone.
func wantStaged(t *testing.T, res *cairn.RemovedFork, want string) {
	t.Helper()
	var staged []string
	for _, lost := range res.Lost {
		if strings.Contains(lost.Reason, "staged") {
			staged = append(staged, string(lost.Path))
		}
	}
	if strings.Join(staged, " ") != want {
		t.Errorf("%+v", res.Lost)
	}
}

// TestRemoveLinkedStagedUnseen: git status says nothing of a file that differs from the index where the index
// says that it is not looked at, and an index without a merge under way may hold the sides of a conflict.
func TestRemoveLinkedStagedUnseen(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	f := newLinked(t)
	k, _ := f.forkLinked(copyPlace(t), cairn.ForkOptions{})
	k.git("checkout", "-q", "-b", "other")
	k.write("b", "other\n")
	k.git("rm", "-q", "gone")
	k.git("commit", "-qam", "other")
	k.git("checkout", "-q", "-")
	k.write("b", "a change that is not committed\n")
	k.write("gone", "a change that is not committed\n")
	k.git("checkout", "-q", "-m", "other")
	k.write("b", "something else\n")
	for _, path := range []string{"a", "c", "sub/y", "link"} {
		k.remove(path)
		k.write(path, "staged alone\n")
		k.git("add", path)
	}
	k.git("update-index", "--assume-unchanged", "a")
	k.git("update-index", "--skip-worktree", "c")
	k.write("a", "one\n")
	k.remove("c")
	k.git("update-index", "--assume-unchanged", "far/away/z") // as in the commit
	k.closeAll()
	res, err := f.repo().RemoveFork(t.Context(), k.root, cairn.RemoveForkOptions{Env: f.o.Env()})
	if !errors.Is(err, cairn.ErrUnmerged) {
		t.Fatalf("%+v %v", res, err)
	}
	wantStaged(t, res, "a b c gone")
}

// TestRemoveLinkedDamagedIndex: git cannot read the index, so the removal refuses, and --force goes on.
func TestRemoveLinkedDamagedIndex(t *testing.T) {
	t.Parallel()
	f := newLinked(t)
	k, _ := f.forkLinked(copyPlace(t), cairn.ForkOptions{})
	overwrite(t, strings.TrimSpace(k.git("rev-parse", "--path-format=absolute", "--git-path", "index")), "no index\n")
	k.closeAll()
	opt := cairn.RemoveForkOptions{Env: f.o.Env()}
	res, err := f.repo().RemoveFork(t.Context(), k.root, opt)
	if !errors.Is(err, cairn.ErrUnmerged) || len(res.Lost) != 1 || res.Lost[0].Path != ".git" || !strings.Contains(res.Lost[0].Reason, "staged") {
		t.Fatalf("%+v %v", res, err)
	}
	opt.Force = true
	if _, err := f.repo().RemoveFork(t.Context(), k.root, opt); err != nil {
		t.Fatal(err)
	}
	f.o.Fsck(f.root)
}

// TestRemoveLinkedUnreadable: a repository that git cannot read is not one that is gone. The fork stays.
func TestRemoveLinkedUnreadable(t *testing.T) {
	t.Parallel()
	f := newLinked(t)
	k, _ := f.forkLinked(copyPlace(t), cairn.ForkOptions{})
	k.closeAll()
	config := f.path(".git/config")
	good, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	f.write(".git/config", "[damaged\n")
	opt := cairn.RemoveForkOptions{Env: f.o.Env(), Force: true}
	if res, err := f.repo().RemoveFork(t.Context(), k.root, opt); err == nil || !strings.Contains(err.Error(), "config") {
		t.Errorf("%+v %v", res, err)
	}
	if _, err := os.Lstat(k.root); err != nil {
		t.Error(err)
	}
	f.write(".git/config", string(good))
	if _, err := f.repo().RemoveFork(t.Context(), k.root, opt); err != nil || strings.Contains(f.branches(), "cairn/copy") {
		t.Errorf("%v, branches %s", err, f.branches())
	}
}

// TestRemoveLinkedGone: where the repository is gone, one around the root is another one, and its branches stay.
func TestRemoveLinkedGone(t *testing.T) {
	t.Parallel()
	f := newLinked(t)
	k, _ := f.forkLinked(copyPlace(t), cairn.ForkOptions{})
	k.closeAll()
	f.closeAll()
	if err := os.RemoveAll(f.path(".git")); err != nil {
		t.Fatal(err)
	}
	around := filepath.Dir(f.root)
	f.o.Init(around)
	f.o.In(around, "commit", "-q", "--allow-empty", "-m", "another")
	f.o.In(around, "branch", "cairn/copy")
	if _, err := f.repo().RemoveFork(t.Context(), k.root, cairn.RemoveForkOptions{Env: f.o.Env(), Force: true}); err != nil {
		t.Fatal(err)
	}
	if list := f.o.In(around, "branch", "--list", "cairn/*"); !strings.Contains(list, "cairn/copy") {
		t.Errorf("branches of another repository: %q", list)
	}
}

// newLinkedRun is a fork as a linked work tree in a process of its own, run over and over.
func newLinkedRun(t *testing.T) (c *crashRun, dir string) {
	t.Helper()
	c = &crashRun{fixture: newFixture(t, crashTree), oracle: gittest.NewOracle(t), pristine: t.TempDir()}
	c.oracle.Init(c.root)
	c.oracle.Commit(c.root, "first")
	c.before = c.trackAll()
	c.write("a", "two\n")
	c.oracle.In(c.root, "add", "a")
	c.write("a", "three, not tracked yet\n")
	c.new = c.besidesGit()
	for _, pair := range [][2]string{{c.root, "root"}, {c.data, "data"}} {
		gittest.CopyTree(t, pair[0], filepath.Join(c.pristine, pair[1]))
	}
	return c, copyPlace(t)
}

// wholeLinked fails unless a linked work tree is whole, or absent with all that git has of it.
func (c *crashRun) wholeLinked(dir, when string) (there bool) {
	c.Helper()
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	k := c.in(dir)
	defer k.closeAll()
	gittest.AssertEqual(c.T, "the fork, "+when, c.new, k.besidesGit())
	for _, args := range []string{"status --porcelain=v2", "worktree list", "ls-files --stage"} {
		if here, there := c.oracle.In(c.root, strings.Fields(args)...), c.oracle.In(dir, strings.Fields(args)...); here != there {
			c.Errorf("%s: git %s: %s, in the fork %s", when, args, here, there)
		}
	}
	if head := c.oracle.In(dir, "symbolic-ref", "HEAD"); head != "refs/heads/cairn/copy\n" {
		c.Errorf("%s: HEAD of the fork is %s", when, head)
	}
	return true
}

// removeLocks removes the locks of a git that was killed, as git tells its user to do.
func (c *crashRun) removeLocks() {
	c.Helper()
	err := filepath.WalkDir(c.path(".git"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".lock") || strings.HasSuffix(path, "packed-refs.new")) {
			err = os.Remove(path)
		}
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
}

// linkedAgain forks once more where the fork is not there. Its leftovers are no hindrance. success says that
// the fork has claimed it.
func (c *crashRun) linkedAgain(dir, when string, success bool) {
	c.Helper()
	if !c.wholeLinked(dir, when) {
		if success {
			c.Errorf("%s: success without a fork", when)
		}
		again := func() error {
			_, err := c.repo().Fork(c.Context(), dir, cairn.ForkOptions{GitWorktree: true, Env: c.oracle.Env()})
			return err
		}
		err := again()
		if err != nil && strings.Contains(err.Error(), ".lock") {
			c.removeLocks()
			err = again()
		}
		if err != nil {
			c.Fatalf("%s: the next fork: %v", when, err)
		}
		c.wholeLinked(dir, when+", the next fork")
		assertAlone(c.T, dir)
	}
	if list := c.oracle.In(c.root, "worktree", "list"); strings.Count(list, "\n") != 2 {
		c.Errorf("%s: %s", when, list)
	}
	if heads, err := filepath.Glob(c.path(".git/worktrees/*/HEAD")); err != nil || len(heads) != 1 { // a killed git may leave an entry without
		c.Errorf("%s: the repository has work trees with %q, %v", when, heads, err)
	}
	c.oracle.Fsck(c.root)
	c.closeAll()
}

// TestForkLinkedKilled kills a fork, and with it git, before their write-type system calls.
func TestForkLinkedKilled(t *testing.T) {
	t.Parallel()
	c, dir := newLinkedRun(t)
	env := append(c.forkEnv(dir), "CAIRN_TEST_GIT=1")
	gittest.Killed(t, gittest.FamilyStride(), func(n int) gittest.Crash {
		c.reset()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		return gittest.KillFamilyAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n)
	}, func(when string) { c.linkedAgain(dir, when, false) })
	c.linkedAgain(dir, "undisturbed", true)
}

// TestForkLinkedWriteErrors lets one system call of the fork or of git fail.
func TestForkLinkedWriteErrors(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
		t.Run(errno.Error(), func(t *testing.T) {
			t.Parallel()
			c, dir := newLinkedRun(t)
			env := append(c.forkEnv(dir), "CAIRN_TEST_GIT=1")
			gittest.Failed(t, []syscall.Errno{errno}, gittest.First(), gittest.FamilyStride(), func(n int, errno syscall.Errno) gittest.Crash {
				c.reset()
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				return gittest.FailFamilyAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n, errno)
			}, func(when string, crash gittest.Crash) { c.linkedAgain(dir, when, crash.ExitCode == 0) })
		})
	}
}

// TestRemoveLinkedKilled kills a removal, and with it git: a second one ends it.
func TestRemoveLinkedKilled(t *testing.T) {
	t.Parallel()
	c, dir := newLinkedRun(t)
	if _, err := c.repo().Fork(t.Context(), dir, cairn.ForkOptions{GitWorktree: true, Env: c.oracle.Env()}); err != nil {
		t.Fatal(err)
	}
	c.closeAll()
	for _, pair := range [][2]string{{c.root, "root"}, {c.data, "data"}, {dir, "fork"}} {
		gittest.CopyTree(t, pair[0], filepath.Join(c.pristine, pair[1]))
	}
	env := append(c.env("remove-fork"), "CAIRN_TEST_DIR="+dir)
	check := func(when string) {
		res, err := c.repo().RemoveFork(t.Context(), dir, cairn.RemoveForkOptions{Force: true, Env: c.oracle.Env()})
		if err != nil && !errors.Is(err, cairn.ErrNotFound) {
			t.Fatalf("%s: a second removal: %v", when, err)
		}
		if err == nil && strings.Contains(res.BranchKept, "/.git/") { // git names a lock of the git that was killed
			c.removeLocks()
			c.oracle.In(c.root, "branch", "-q", "-D", "cairn/copy")
		}
		if refs := c.oracle.In(c.root, "for-each-ref", "--format=%(refname)"); refs != "refs/heads/main\n" {
			t.Errorf("%s: %s", when, refs)
		}
		if list := c.oracle.In(c.root, "worktree", "list"); strings.Count(list, "\n") != 1 {
			t.Errorf("%s: %s", when, list)
		}
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the directory is there: %v", when, err)
		}
		c.closeAll()
	}
	gittest.Killed(t, gittest.FamilyStride(), func(n int) gittest.Crash {
		c.reset()
		gittest.CopyTree(t, filepath.Join(c.pristine, "fork"), dir)
		return gittest.KillFamilyAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n)
	}, check)
	check("undisturbed")
}
