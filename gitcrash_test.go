package cairn_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// gitAsProcess takes back what a turn has moved in git, or takes that back again, by the plan of a dry
// run.
func gitAsProcess(r *cairn.Repo, command string) error {
	move := func(dry bool, plan string) (*cairn.Result, error) {
		if command == "git-undo" {
			return r.Undo(background, cairn.RevertOptions{Git: true, DryRun: dry, Plan: plan})
		}
		_, res, err := session.New(r).Revert(background, "s", session.Target{Start: true}, session.MoveOptions{Git: true, DryRun: dry, Plan: plan})
		return res, err
	}
	plan, err := move(true, "")
	if err != nil {
		return err
	}
	res, err := move(false, plan.PlanID)
	if err == nil && (!res.Complete() || len(res.Git.Conflicts) > 0) {
		err = fmt.Errorf("incomplete: %+v %+v", res, res.Git)
	}
	return err
}

// gitHarms are what a turn does to a repository.
var gitHarms = map[string]func(f *gitFixture){
	"moved": func(f *gitFixture) {
		f.git("merge", "--abort")
		f.git("checkout", "-q", "-b", "other", "HEAD~1")
		f.git("branch", "-q", "-D", "main", "a")
		f.git("branch", "main/below")
		f.git("tag", "-d", "v1")
		f.git("symbolic-ref", "-d", "refs/alias")
		f.git("stash", "drop", "-q", "stash@{1}")
		f.commit("other work")
		f.git("reflog", "expire", "--expire=now", "HEAD")
		f.git("gc", "-q", "--prune=now")
	},
	"gone": func(f *gitFixture) { f.remove(".git") },
}

// gitCrash is a command in a process of its own that takes such a turn back.
type gitCrash struct {
	*gitFixture
	pristine string // copies of root and data
	temp     string // directory for temporary files
	command  string
	before   string // checkpoint
	old, new string // what git says before the command, and after it
}

func newGitCrash(t *testing.T, kind gitCrashKind) *gitCrash {
	t.Helper()
	gittest.NeedGit(t)
	c := &gitCrash{gitFixture: &gitFixture{newFixture(t, nil), gittest.NewOracle(t)}, pristine: t.TempDir(), temp: t.TempDir(), command: kind.command}
	c.begin("a merge under way", kind.format(t), (*gitFixture).stopInAMerge)
	c.new = c.look()
	s := session.New(c.repo())
	begun, err := s.BeginStep(background, session.StepBegin{Session: "s", Message: "m", Step: "1", Role: session.RoleUser})
	if err != nil {
		t.Fatal(err)
	}
	c.before = begun.Before.ID
	gitHarms[kind.harm](c.gitFixture)
	if _, err := s.EndStep(background, session.StepEnd{Session: "s", Step: "1"}); err != nil {
		t.Fatal(err)
	}
	c.old = c.look()
	if kind.command == "git-undo" {
		c.run("git-revert")
		c.old, c.new = c.new, c.old
	}
	c.is("at the beginning", c.old)
	gittest.CopyTree(t, c.root, filepath.Join(c.pristine, "root"))
	gittest.CopyTree(t, c.data, filepath.Join(c.pristine, "data"))
	return c
}

// stopInAMerge makes refs of every kind, stashes, and a merge that stops at a conflict.
func (f *gitFixture) stopInAMerge() {
	f.Helper()
	for _, text := range []string{"one", "two", "three"} {
		f.commit(text)
	}
	f.git("branch", "a", "HEAD~1")
	f.git("tag", "-a", "-m", "t", "v1")
	f.git("symbolic-ref", "refs/alias", "refs/heads/a")
	for _, text := range []string{"x", "y"} {
		f.write("file", text)
		f.git("stash", "push", "-q", "-m", text)
	}
	f.git("checkout", "-q", "-b", "side", "HEAD~1")
	f.commit("side")
	f.git("checkout", "-q", "main")
	if _, err := f.o.Try(f.root, "merge", "-q", "side"); err == nil {
		f.Fatal("the merge has no conflict")
	}
}

// look is what git says of the repository.
func (c *gitCrash) look() string {
	c.Helper()
	var b strings.Builder
	for _, args := range []string{"symbolic-ref HEAD", "for-each-ref --format=%(refname)|%(objectname)|%(symref)", "ls-files --stage -v", "stash list", "status"} {
		out, err := c.o.Try(c.root, strings.Fields(args)...)
		fmt.Fprintf(&b, "git %s: %v\n%s\n", args, err != nil, out)
	}
	return b.String()
}

func (c *gitCrash) is(when, want string) {
	c.Helper()
	if got := c.look(); got != want {
		c.Fatalf("%s:\n%s\nwant:\n%s", when, got, want)
	}
}

// run runs a command to its end.
func (c *gitCrash) run(command string) {
	c.Helper()
	if err := gitAsProcess(c.repo(), command); err != nil {
		c.Fatal(err)
	}
}

func (c *gitCrash) reset() {
	c.closeAll()
	gittest.CopyTree(c.T, filepath.Join(c.pristine, "root"), c.root)
	gittest.CopyTree(c.T, filepath.Join(c.pristine, "data"), c.data)
}

func (c *gitCrash) env() []string {
	return append(os.Environ(), "CAIRN_TEST_COMMAND="+c.command, "CAIRN_TEST_ROOT="+c.root, "CAIRN_TEST_DATA="+c.data, "TMPDIR="+c.temp, "GOMAXPROCS=2")
}

// again lets the next command find what was cut short. Everything is as before then, or as after the
// command, and the command can be repeated.
func (c *gitCrash) again(when string) (finished bool) {
	c.Helper()
	c.track()
	if finished = c.look() == c.new; !finished {
		c.is(when+": neither as after the command nor as before", c.old)
		c.run(c.command)
	}
	c.is(when+": in the end", c.new)
	c.o.Fsck(c.root)
	c.noLocks(when)
	c.nothingTemporary(when)
	return finished
}

// nothingTemporary: what a killed process has made for itself is gone.
func (c *gitCrash) nothingTemporary(when string) {
	c.Helper()
	for _, pattern := range []string{filepath.Join(c.temp, "cairn*"), filepath.Join(c.repo().StoreDir(), "cairn", ".tmp*")} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			c.Errorf("%s: left behind: %q, %v", when, left, err)
		}
	}
}

// noLocks: nothing in the git directory stops the next command of git.
func (c *gitCrash) noLocks(when string) {
	c.Helper()
	if _, err := os.Lstat(c.path(".git")); err != nil {
		return
	}
	err := filepath.WalkDir(c.path(".git"), func(path string, _ fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err == nil && (strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".new") || strings.Contains(name, ".cairn-")) {
			c.Errorf("%s: left behind: %s", when, path)
		}
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
}

// gitCrashKind is a command that is cut short, and what it takes back.
type gitCrashKind struct {
	command, harm string
	tables        bool // the refs are in a reftable
}

var gitCrashes = []gitCrashKind{
	{"git-revert", "moved", false}, {"git-undo", "moved", false}, {"git-revert", "gone", false},
	{"git-revert", "moved", true}, {"git-undo", "moved", true}, {"git-revert", "gone", true},
}

func (k gitCrashKind) name() string {
	name := k.command + "/" + k.harm
	if k.tables {
		name += "/reftable"
	}
	return name
}

// format returns the flags for git init. It skips a test that this git cannot do.
func (k gitCrashKind) format(t *testing.T) []string {
	t.Helper()
	if !k.tables {
		return nil
	}
	gittest.NewOracle(t).NeedVersion(2, 45)
	return []string{"--ref-format=reftable"}
}

// TestKilledWhileGitGoesBack kills cairn alone, or cairn and the git that it has started, before their
// write-type system calls. CAIRN_CRASH=git visits each of them.
func TestKilledWhileGitGoesBack(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for _, kind := range gitCrashes {
		for name, kill := range map[string]func(testing.TB, []string, []string, string, int) gittest.Crash{"alone": gittest.KillAt, "with git": gittest.KillFamilyAt} {
			t.Run(kind.name()+"/"+name, func(t *testing.T) {
				t.Parallel()
				c := newGitCrash(t, kind)
				finished := 0
				gittest.Killed(t, gittest.FamilyStride(), func(n int) gittest.Crash {
					c.reset()
					return kill(t, []string{os.Args[0]}, c.env(), gittest.WriteCalls, n)
				}, func(when string) {
					if c.again(when) {
						finished++
					}
				})
				t.Logf("%d of the killed commands were finished by the next one", finished)
			})
		}
	}
}

// TestGitGoesBackWithWriteErrors lets calls of cairn, or of the git that it has started, fail; at most
// every third, as each visit runs git many times. The command succeeds, or says why not, and the repository is sound. What it has left undone goes back by
// a restore. A git that cannot remove its lock leaves it.
func TestGitGoesBackWithWriteErrors(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for i, kind := range gitCrashes[:3] { // a reftable keeps a symbolic ref without its target where its deletion fails
		t.Run(kind.name(), func(t *testing.T) {
			t.Parallel()
			c := newGitCrash(t, kind)
			errno := []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT}[i]
			fail := func(n int, errno syscall.Errno) gittest.Crash {
				c.reset()
				return gittest.FailFamilyAt(t, []string{os.Args[0]}, c.env(), gittest.WriteCalls, n, errno)
			}
			gittest.Failed(t, []syscall.Errno{errno}, gittest.First()+i, 3*gittest.FamilyStride(), fail, func(when string, crash gittest.Crash) {
				when += ": " + crash.Stderr
				if crash.ExitCode == 0 {
					c.is(when, c.new)
				}
				if c.track(); crash.Call != "unlink" && crash.Call != "unlinkat" {
					c.noLocks(when)
					c.restored(when)
				}
			})
		})
	}
}

// restored brings files and git back to before the turn.
func (c *gitCrash) restored(when string) {
	c.Helper()
	if c.command == "git-undo" { // it leads to after the turn
		c.o.Fsck(c.root)
		return
	}
	r := c.repo()
	if _, err := r.Restore(background, c.before, cairn.RestoreOptions{}); err != nil {
		c.Fatalf("%s: %v", when, err)
	}
	plan, err := r.RestoreGit(background, c.before, cairn.GitRestoreOptions{DryRun: true})
	if err == nil {
		_, err = r.RestoreGit(background, c.before, cairn.GitRestoreOptions{Plan: plan.PlanID})
	}
	if err != nil {
		c.Fatalf("%s: %v", when, err)
	}
	c.is(when+": restored", c.new)
	c.o.Fsck(c.root)
}
