package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// state is what the user sees of a repository: HEAD, refs, index, files and what is under way.
func (f *gitFixture) state() string {
	f.Helper()
	index, err := os.ReadFile(f.gitPath("index"))
	if err != nil && !os.IsNotExist(err) {
		f.Fatal(err)
	}
	// git status would refresh the index, so it is read before.
	return f.run("for-each-ref") + f.run("status", "--porcelain=v2", "--branch") + f.run("status") + string(index)
}

func (f *gitFixture) gitPath(name string) string {
	f.Helper()
	path := strings.TrimSpace(f.run("rev-parse", "--git-path", name))
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.root, path)
	}
	return path
}

// refused tries to commit. Nothing changes, and the error has the texts.
func (f *gitFixture) refused(texts ...string) {
	f.Helper()
	f.run("status") // refreshes the index
	before := f.state()
	for _, dry := range []bool{true, false} {
		_, err := f.commit(session.GitCommitOptions{DryRun: dry})
		for _, text := range texts {
			if err == nil || !strings.Contains(err.Error(), text) {
				f.Errorf("dry run %v: got %v, want %q", dry, err, text)
			}
		}
	}
	f.want("the repository", before, f.state())
}

// try runs git commands, the last of which may fail.
func (f *gitFixture) try(args ...string) {
	f.Helper()
	if out, err := f.git.Try(f.root, append([]string{"-c", "core.editor=true"}, args...)...); err != nil {
		f.Logf("git %q: %v %s", args, err, out)
	}
}

// twoBranches has a file c that both branches, main and side, have changed.
func twoBranches(t *testing.T) *gitFixture {
	t.Helper()
	f := &gitFixture{newFixture(t, nil), gittest.NewOracle(t)}
	originals.Copy(t, f.root, "two branches", func(dir string) {
		f := newGitFixture(t, gittest.Tree{"c": gittest.File("1\n")})
		f.branchOut()
		if err := os.CopyFS(dir, os.DirFS(f.root)); err != nil {
			t.Fatal(err)
		}
	})
	f.run("update-index", "-q", "--refresh")
	return f
}

// branchOut makes two branches that have changed the same line.
func (f *gitFixture) branchOut() {
	f.Helper()
	f.run("branch", "-M", "main") // git before 2.28 begins with another name
	f.run("branch", "side")
	for _, text := range []string{"2\n", "3\n"} {
		f.write("c", text)
		f.run("commit", "-q", "-a", "-m", "main "+text)
	}
	f.run("checkout", "-q", "side")
	f.write("other", "o\n")
	f.run("add", "other")
	f.run("commit", "-q", "-m", "other")
	f.write("c", "4\n")
	f.run("commit", "-q", "-a", "-m", "side")
	f.run("checkout", "-q", "main")
}

func TestCommitRefusesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	resolve := func(f *gitFixture) { f.write("c", "5\n"); f.run("add", "c") }
	for name, c := range map[string]struct {
		begin      func(f *gitFixture)
		what, next string
		end        []string
	}{
		"merge":             {func(f *gitFixture) { f.try("merge", "side") }, "a merge", "git merge --abort", []string{"merge", "--abort"}},
		"resolved merge":    {func(f *gitFixture) { f.try("merge", "side"); resolve(f) }, "a merge", "git commit", []string{"commit", "-q", "-m", "merged"}},
		"merge --no-commit": {func(f *gitFixture) { f.try("merge", "--no-commit", "side~1") }, "a merge", "git merge --abort", []string{"merge", "--abort"}},
		"rebase":            {func(f *gitFixture) { f.try("rebase", "side") }, "a rebase", "git rebase --abort", []string{"rebase", "--abort"}},
		"rebase --apply":    {func(f *gitFixture) { f.git.NeedVersion(2, 26); f.try("rebase", "--apply", "side") }, "a rebase", "git rebase --abort", []string{"rebase", "--abort"}},
		"stopped rebase":    {func(f *gitFixture) { f.try("rebase", "--exec", "false", "HEAD~1") }, "a rebase", "git rebase --continue", []string{"rebase", "--abort"}},
		"am": {func(f *gitFixture) {
			mail := f.run("format-patch", "-1", "--stdout", "side")
			if err := os.WriteFile(f.gitPath("mail"), []byte(mail), 0o644); err != nil {
				f.Fatal(err)
			}
			f.try("am", f.gitPath("mail"))
		}, "git am", "git am --abort", []string{"am", "--abort"}},
		"cherry-pick":            {func(f *gitFixture) { f.try("cherry-pick", "side") }, "a cherry-pick", "git cherry-pick --abort", []string{"cherry-pick", "--abort"}},
		"resolved cherry-pick":   {func(f *gitFixture) { f.try("cherry-pick", "side"); resolve(f) }, "a cherry-pick", "git cherry-pick --continue", []string{"commit", "-q", "-m", "picked"}},
		"cherry-pick of several": {func(f *gitFixture) { f.try("cherry-pick", "main..side"); resolve(f) }, "a cherry-pick", "git cherry-pick --abort", []string{"cherry-pick", "--abort"}},
		"revert":                 {func(f *gitFixture) { f.try("revert", "HEAD~1") }, "a revert", "git revert --abort", []string{"revert", "--abort"}},
		"revert -n":              {func(f *gitFixture) { f.try("revert", "-n", "HEAD") }, "a revert", "git revert --abort", []string{"revert", "--abort"}},
		"bisect":                 {func(f *gitFixture) { f.try("bisect", "start", "HEAD", "HEAD~2") }, "a bisect", "git bisect reset", []string{"bisect", "reset"}},
		"stash apply": {func(f *gitFixture) {
			f.write("c", "stashed\n")
			f.run("stash", "-q")
			f.run("checkout", "-q", "side")
			f.try("stash", "apply")
		}, "unmerged paths", "git add", []string{"checkout", "-q", "-f", "main"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := twoBranches(t)
			f.turn("s", "m1", "one", func() { f.write("new", "agent\n") })
			c.begin(f)
			f.refused(c.what, c.next)
			f.run(c.end...)
			if done, err := f.commit(session.GitCommitOptions{}); err != nil || len(done.Commits) != 1 {
				t.Errorf("afterwards: %+v, %v", done, err)
			}
			f.want("files", "new\n", f.run("show", "--format=", "--name-only", "HEAD"))
		})
	}
}

func TestCommitRefusesInReftable(t *testing.T) {
	t.Parallel()
	f := &gitFixture{newFixture(t, gittest.Tree{"c": gittest.File("1\n")}), gittest.NewOracle(t)}
	f.git.NeedVersion(2, 45)
	f.git.Init(f.root, "--ref-format=reftable")
	f.git.Commit(f.root, "first")
	f.write("c", "2\n")
	f.git.Commit(f.root, "second")
	f.turn("s", "m1", "one", func() { f.write("new", "agent\n") })
	f.run("revert", "-n", "HEAD")
	f.refused("a revert", "git revert --abort")
	f.run("revert", "--abort")
	if _, err := f.commit(session.GitCommitOptions{}); err != nil {
		t.Fatal(err)
	}
	f.want("subjects", "one\nsecond\nfirst\n", f.run("log", "--format=%s"))
}

func TestCommitRefusesWithoutAWorkTree(t *testing.T) {
	t.Parallel()
	f := &gitFixture{newFixture(t, nil), gittest.NewOracle(t)}
	f.turn("s", "m1", "one", func() { f.write("a", "agent\n") })
	elsewhere := f.git.Init(t.TempDir())
	env := append(f.env(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(f.root))
	_, err := f.CommitTurns(background, "s", nil, session.GitCommitOptions{Env: env})
	if err == nil || !strings.Contains(err.Error(), "no git repository with a work tree encloses "+f.root) {
		t.Errorf("no repository: %v", err)
	}
	env = append(env, "GIT_DIR="+filepath.Join(elsewhere, ".git"), "GIT_WORK_TREE="+f.root)
	_, err = f.CommitTurns(background, "s", nil, session.GitCommitOptions{Env: env})
	if err == nil || !strings.Contains(err.Error(), "GIT_DIR names") {
		t.Errorf("GIT_DIR alone: %v", err)
	}
	f.git.In(f.root, "init", "-q", "--bare")
	_, err = f.CommitTurns(background, "s", nil, session.GitCommitOptions{Env: env})
	if err == nil || !strings.Contains(err.Error(), "no git repository with a work tree") {
		t.Errorf("a bare repository: %v", err)
	}
}

func TestCommitPassesOverTheRepositoryOfAHook(t *testing.T) {
	t.Parallel()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File("a\n")})
	other := f.git.Init(t.TempDir())
	gittest.Create(t, other, gittest.Tree{"x": gittest.File("x\n")})
	f.git.Commit(other, "other")
	before := gittest.Manifest(t, other, gittest.WantTimes)
	f.turn("s", "m1", "one", func() { f.write("a", "agent\n") })
	git := filepath.Join(other, ".git")
	env := append(f.env(), "GIT_DIR="+git, "GIT_WORK_TREE="+other, "GIT_INDEX_FILE="+filepath.Join(git, "index"), "GIT_OBJECT_DIRECTORY="+filepath.Join(git, "objects"))
	if done, err := f.CommitTurns(background, "s", nil, session.GitCommitOptions{Env: env}); err != nil || len(done.Commits) != 1 {
		t.Fatal(done, err)
	}
	f.want("a in HEAD", "agent\n", f.run("show", "HEAD:a"))
	f.want("status", "", f.run("status", "--porcelain"))
	gittest.AssertEqual(t, "the other repository", before, gittest.Manifest(t, other, gittest.WantTimes))
}
