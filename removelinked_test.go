package cairn_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

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
