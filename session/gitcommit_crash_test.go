package session_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// commitCrash is a repository in which a commit is killed again and again, from the same start.
type commitCrash struct {
	*gitFixture
	pristine  string
	env       []string // of a program that commits
	old, done view
}

// view is what HEAD, the index and the user have.
type view struct{ head, index, unstaged string }

func (f *gitFixture) view() view {
	f.Helper()
	return view{f.run("log", "--format=%s %T"), f.run("ls-files", "-s"), f.run("diff")}
}

func newCommitCrash(t *testing.T) *commitCrash {
	t.Helper()
	f := newGitFixture(t, gittest.Tree{"a": gittest.File(tenLines), "gone": gittest.File("g\n"), "mine": gittest.File("m\n")})
	f.write("mine", "staged\n")
	f.run("add", "mine")
	f.turn("s", "m1", "one", func() { f.replace("a", "5\n", "agent\n"); f.write("d/new", "n\n"); f.remove("gone") })
	f.replace("a", "1\n", "user\n")
	f.run("status")
	f.repo.Close()
	c := &commitCrash{gitFixture: f, pristine: t.TempDir(), old: f.view()}
	gittest.CopyTree(t, f.root, filepath.Join(c.pristine, "root"))
	gittest.CopyTree(t, f.data, filepath.Join(c.pristine, "data"))
	c.env = append(f.env(), "CAIRN_TEST_COMMAND=commit", "CAIRN_TEST_ROOT="+f.root, "CAIRN_TEST_DATA="+f.data, "GOMAXPROCS=2", "TMPDIR="+t.TempDir())
	if out, err := c.commitAgain(); err != nil {
		t.Fatalf("undisturbed: %v: %s", err, out)
	}
	c.done = f.view()
	if c.done.head == c.old.head || c.done.index == c.old.index {
		t.Fatal("nothing was committed")
	}
	return c
}

func (c *commitCrash) reset() {
	c.Helper()
	gittest.CopyTree(c.T, filepath.Join(c.pristine, "root"), c.root)
	gittest.CopyTree(c.T, filepath.Join(c.pristine, "data"), c.data)
}

// commitAgain is the next run of the program, which nothing disturbs.
func (c *commitCrash) commitAgain() (string, error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = c.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// locks lists the locks of git in the repository.
func (c *commitCrash) locks() (list []string) {
	c.Helper()
	err := filepath.WalkDir(c.path(".git"), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".lock") {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	return list
}

// check looks at the repository after a kill. If the program survived, the repository is as before,
// or has the whole commit. If it was killed, the changes may be staged until the next run, which puts
// them back where it makes no commit, and else brings about what an undisturbed one does.
func (c *commitCrash) check(what string, survived bool, said string) {
	c.Helper()
	locks := c.locks()
	for _, lock := range locks {
		if survived && !strings.Contains(said, filepath.Base(lock)) {
			c.Errorf("%s: no word about %s: %s", what, lock, said)
		}
	}
	if len(locks) > 0 && !survived {
		if out, err := c.commitAgain(); err == nil || !strings.Contains(out, ".lock") {
			c.Errorf("%s: beside %v: %v, %s", what, locks, err, out)
		}
	}
	for _, lock := range locks {
		os.Remove(lock)
	}
	staged := view{c.old.head, c.done.index, c.done.unstaged}
	switch now := c.view(); {
	case now == c.old, now == c.done, now == staged && !survived:
	default:
		c.Errorf("%s: the repository has\n%+v, want\n%+v or\n%+v", what, now, c.old, c.done)
	}
	c.refuse(what)
	if out, err := c.commitAgain(); err != nil {
		c.Errorf("%s: again: %v: %s", what, err, out)
	}
	// A directory without a note goes when it is old.
	for _, note := range c.glob(filepath.Join(c.data, "commits", "*", "note.json")) {
		if text, err := os.ReadFile(note); err != nil || len(text) > 0 {
			c.Errorf("%s: left behind: %s, %v", what, note, err)
		}
	}
	if now := c.view(); now != c.done {
		c.Errorf("%s: after the next run the repository has\n%+v, want\n%+v", what, now, c.done)
	}
	c.git.Fsck(c.root)
	if c.Failed() {
		c.Fatal(said)
	}
}

func (c *commitCrash) glob(pattern string) []string {
	c.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil {
		c.Fatal(err)
	}
	return list
}

// refuse runs the program again with a hook that refuses the commit: it puts back what was staged.
func (c *commitCrash) refuse(what string) {
	c.Helper()
	c.hook("pre-commit", "exit 1\n")
	out, err := c.commitAgain()
	if now := c.view(); now != c.old && now != c.done || (err == nil) != (now == c.done) {
		c.Errorf("%s: after a hook that refuses: %v, %s: the repository has\n%+v, want\n%+v or\n%+v", what, err, out, now, c.old, c.done)
	}
	if err := os.Remove(c.path(".git/hooks/pre-commit")); err != nil {
		c.Fatal(err)
	}
}

// TestCommitKilled kills the program at each of its own write calls, together with the git that runs.
func TestCommitKilled(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	c := newCommitCrash(t)
	gittest.Killed(t, 2*gittest.Stride(), func(n int) gittest.Crash {
		c.reset()
		return gittest.KillAt(t, []string{os.Args[0]}, c.env, gittest.WriteCalls, n)
	}, func(when string) { c.check(when, false, when) })
}

// killingGit is a git that kills itself at its n-th run, before or after it has done its work, alone
// or together with the program.
const killingGit = `#!/bin/sh
n=$(($(cat "$CAIRN_TEST_COUNT") + 1))
echo $n >"$CAIRN_TEST_COUNT"
test $n = "$CAIRN_TEST_AT" || exec "$CAIRN_TEST_REAL" "$@"
case $CAIRN_TEST_HOW in
*before) ;;
*) "$CAIRN_TEST_REAL" "$@" ;;
esac
case $CAIRN_TEST_HOW in
all*) kill -9 0 ;;
*) kill -9 $$ ;;
esac
`

// inFrontOfGit puts a program in the place of git.
func (c *commitCrash) inFrontOfGit(script string) (env []string) {
	c.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		c.Fatal(err)
	}
	dir := c.TempDir()
	gittest.Program(c.T, filepath.Join(dir, "git"), []byte(script))
	env = slices.DeleteFunc(slices.Clone(c.env), func(entry string) bool { return strings.HasPrefix(entry, "PATH=") })
	return append(env, "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"), "CAIRN_TEST_REAL="+real)
}

// number reads a number from a file.
func (c *commitCrash) number(path string) int {
	c.Helper()
	text, err := os.ReadFile(path)
	n, err2 := strconv.Atoi(strings.TrimSpace(string(text)))
	if err = errors.Join(err, err2); err != nil {
		c.Fatal(err)
	}
	return n
}

// TestCommitWhoseGitIsKilled kills each git that the program starts: alone before its work, or with the
// program after it, and the other way round for every second one. What the program does between two
// runs of git is TestCommitKilled's. CAIRN_CRASH=all kills each in all four ways.
func TestCommitWhoseGitIsKilled(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	for how, first := range map[string]int{"before": 1, "after": 2, "all before": 2, "all after": 1} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c := newCommitCrash(t)
			count := filepath.Join(t.TempDir(), "count")
			env := append(c.inFrontOfGit(killingGit), "CAIRN_TEST_COUNT="+count, "CAIRN_TEST_HOW="+how)
			n, step := first, 2*gittest.Step()
			if gittest.Stride() == 1 {
				n, step = 1, 1
			}
			for ; ; n += step {
				c.reset()
				if err := os.WriteFile(count, []byte("0"), 0o600); err != nil {
					t.Fatal(err)
				}
				run := gittest.Undisturbed(t, []string{os.Args[0]}, append(env, "CAIRN_TEST_AT="+strconv.Itoa(n)))
				if c.number(count) < n {
					break
				}
				c.check(fmt.Sprintf("%s run %d of git", how, n), !strings.HasPrefix(how, "all"), run.String())
			}
			if n < 15 {
				t.Errorf("only %d runs of git", n-1)
			}
		})
	}
}

// tracingGit runs the commit itself under a tracer.
const tracingGit = `#!/bin/sh
case $1 in
commit) CAIRN_TEST_COMMAND= CAIRN_TEST_GIT=$CAIRN_TEST_REAL exec "$CAIRN_TEST_PROGRAM" "$@" ;;
*) exec "$CAIRN_TEST_REAL" "$@" ;;
esac
`

// tracer is a testing.TB for a process that is no test.
type tracer struct {
	testing.TB
	dir string
}

func (tracer) Helper() {}

func (t tracer) TempDir() string { return t.dir }

func (t tracer) Fatal(args ...any) { t.end(2, args...) }

func (t tracer) Fatalf(format string, args ...any) { t.end(2, fmt.Sprintf(format, args...)) }

func (t tracer) Skip(args ...any) { t.end(3, args...) }

func (t tracer) Skipf(format string, args ...any) { t.end(3, fmt.Sprintf(format, args...)) }

func (tracer) end(status int, args ...any) {
	fmt.Fprintln(os.Stderr, append([]any{"tracer: "}, args...)...)
	os.Exit(status)
}

// gitUnderTrace runs git and kills it at the call that the environment names.
func gitUnderTrace(real string) int {
	n, err := strconv.Atoi(os.Getenv("CAIRN_TEST_AT"))
	dir, err2 := os.MkdirTemp("", "tracer")
	if err != nil || err2 != nil {
		return 2
	}
	defer os.RemoveAll(dir)
	crash := gittest.KillAt(tracer{dir: dir}, append([]string{real}, os.Args[1:]...), nil, gittest.WriteCalls, n)
	fmt.Fprint(os.Stderr, crash.Stderr)
	if crash.Hit {
		fmt.Fprintf(os.Stderr, "git was hit at %s\n", crash.Call)
		return 137
	}
	return crash.ExitCode
}

// TestCommitWhoseGitIsKilledMidway kills git commit at each of its own write calls.
func TestCommitWhoseGitIsKilledMidway(t *testing.T) {
	t.Parallel()
	gittest.Long(t)
	c := newCommitCrash(t)
	env := append(c.inFrontOfGit(tracingGit), "CAIRN_TEST_PROGRAM="+os.Args[0])
	n := gittest.First()
	for ; ; n += max(1, gittest.Stride()/3) {
		c.reset()
		run := gittest.Undisturbed(t, []string{os.Args[0]}, append(env, "CAIRN_TEST_AT="+strconv.Itoa(n)))
		if strings.Contains(run.Stderr, "tracer: ") {
			t.Skip(run.Stderr)
		}
		if run.ExitCode == 0 && !strings.Contains(run.Stderr, "git was hit") {
			if n < 10 {
				break
			}
			t.Logf("%d write-type system calls", n-1)
			return
		}
		c.check(fmt.Sprintf("git commit killed at call %d", n), true, run.String()+run.Stderr)
		if n > 500 {
			break
		}
	}
	t.Errorf("%d calls of git commit", n)
}
