//go:build unix

package best

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// processVariable makes the test program a run in a directory.
const processVariable = "CAIRN_TEST_BEST"

func TestMain(m *testing.M) {
	if dir := os.Getenv(processVariable); dir != "" {
		os.Exit(asProcess(dir))
	}
	gittest.Prepare()
	m.Run()
}

// world is a project whose file "a" holds "1", and the lines that a run says.
type world struct {
	*testing.T
	dir, root string
	repo      *cairn.Repo

	mu           sync.Mutex
	said, warned []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, dir: dir, root: filepath.Join(dir, "project")}
	gittest.Create(t, w.root, gittest.Tree{"a": gittest.File("1\n"), ".gitignore": gittest.File("dep/\n"), "dep/lib": gittest.File("lib\n")})
	w.repo, err = w.open(w.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.repo.Close() })
	return w
}

func (w *world) open(root string) (*cairn.Repo, error) {
	return cairn.Open(cairn.Options{Root: root, DataDir: filepath.Join(w.dir, "data"), NoSync: true})
}

// options runs a script of sh in n forks.
func (w *world) options(n int, script string) *Options {
	note := func(list *[]string) func(string) {
		return func(text string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			*list = append(*list, text)
		}
	}
	return &Options{
		Count: n, Jobs: n, Command: []string{"sh", "-c", script}, Environ: append(os.Environ(), "WORLD="+w.dir, "GIT_DIR=/elsewhere"),
		Open: w.open, Say: note(&w.said), Warn: note(&w.warned),
	}
}

func (w *world) run(opt *Options) *Result {
	w.Helper()
	res, err := Run(w.Context(), w.repo, opt)
	if err != nil {
		w.Fatal(err)
	}
	if len(w.warned) > 0 {
		w.Errorf("warnings: %q", w.warned)
	}
	return res
}

func (w *world) read(name string) string {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

func (w *world) fifo(name string) string {
	w.Helper()
	path := filepath.Join(w.dir, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

// TestRanking: passed first, then fewer changed paths; an attempt without changes, a failed test, a failed
// command. Each attempt has a session, a log, checkpoints and a noted result.
func TestRanking(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opt := w.options(5, `echo out $CAIRN_BEST of $CAIRN_BEST_OF "${GIT_DIR-none}"; echo err >&2
case $CAIRN_BEST in
1) echo good > a; echo > b; echo > c;;
2) echo good > a; echo > b;;
3) echo bad > a;;
4) echo good > a; exit 7;;
esac`)
	opt.Test = []string{"sh", "-c", "echo testing; grep -q -e good -e 1 a"}
	res := w.run(opt)
	if got := order(res); !slices.Equal(got, []int{2, 1, 5, 4, 3}) {
		t.Fatalf("order %v: %+v", got, res.Forks)
	}
	for i, want := range []struct {
		good                             bool
		status, test, files, plus, minus int
	}{{true, 0, 0, 2, 2, 1}, {true, 0, 0, 3, 3, 1}, {true, 0, 0, 0, 0, 0}, {false, 7, 0, 1, 1, 1}, {false, 0, 1, 1, 1, 1}} {
		a := &res.Forks[i]
		if a.Good() != want.good || a.Status != want.status || a.Test == nil || a.Test.Status != want.test || a.Note != "" ||
			a.Files != want.files || a.Additions != want.plus || a.Deletions != want.minus || a.Error != "" {
			t.Errorf("place %d: %+v, want %+v", i, a, want)
		}
		w.checkFork(a)
	}
	if w.read("project/a") != "1\n" {
		t.Error("the first directory was changed")
	}
	w.checkListed(res)
}

// checkListed: the list of forks says how the test of each attempt ended.
func (w *world) checkListed(res *Result) {
	w.Helper()
	list, err := w.repo.Forks(w.Context())
	if err != nil || len(list) != len(res.Forks) {
		w.Fatal(list, err)
	}
	for _, f := range list {
		i := slices.IndexFunc(res.Forks, func(a Attempt) bool { return a.Root == f.Root })
		if a := res.Forks[i]; f.Changed != a.Files || f.Checkpoint != a.Checkpoint || f.Test == nil || f.Test.Status != a.Test.Status {
			w.Errorf("%+v, listed as %+v", a, f)
		}
	}
}

// checkFork looks into the store and the log of an attempt.
func (w *world) checkFork(a *Attempt) {
	w.Helper()
	k := strconv.Itoa(a.Number)
	if string(a.Root) != w.root+"-"+k || w.read("project-"+k+".log") != "out "+k+" of 5 none\nerr\ntesting\n" {
		w.Errorf("fork %s in %s, log %q", k, a.Root, w.read("project-"+k+".log"))
	}
	repo, err := w.open(string(a.Root))
	if err != nil {
		w.Fatal(err)
	}
	defer repo.Close()
	noted, err := repo.TestResults(w.Context())
	if err != nil || len(noted) != 1 || noted[0].Checkpoint != a.Checkpoint || noted[0].Status != a.Test.Status {
		w.Errorf("fork %s: noted %+v, %v", k, noted, err)
	}
	s, err := session.New(repo).Get(w.Context(), a.Session)
	if err != nil || s.Open != "" {
		w.Errorf("fork %s: session %+v, %v", k, s, err)
	}
}

// TestLimitOfProcesses: two commands run at once, and never three. Each says that it runs, and waits
// until the test lets it go.
func TestLimitOfProcesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opt := w.options(4, `mkdir -p $WORLD/live/$CAIRN_BEST
ls $WORLD/live | wc -l > $WORLD/count-$CAIRN_BEST
echo $CAIRN_BEST > $WORLD/started-$CAIRN_BEST
read line < $WORLD/go-$CAIRN_BEST
rmdir $WORLD/live/$CAIRN_BEST`)
	opt.Jobs, opt.NoSession = 2, true
	for _, k := range []string{"1", "2", "3", "4"} {
		w.fifo("started-" + k)
		w.fifo("go-" + k)
	}
	done := make(chan *Result, 1)
	go func() {
		defer close(done)
		if res, err := Run(t.Context(), w.repo, opt); err != nil {
			t.Error(err)
		} else {
			done <- res
		}
	}()
	started := func(k string) { w.read("started-" + k) } // blocks until the command has opened it
	release := func(k string) {
		if err := os.WriteFile(filepath.Join(w.dir, "go-"+k), []byte("go\n"), 0); err != nil {
			t.Error(err)
		}
	}
	started("1")
	started("2") // both are alive
	release("1")
	started("3")
	release("2")
	release("3")
	started("4")
	release("4")
	res := <-done
	if res == nil {
		t.FailNow()
	}
	for i := range res.Forks {
		a := &res.Forks[i]
		live := strings.TrimSpace(w.read("count-" + strconv.Itoa(a.Number)))
		if live != "1" && live != "2" || a.Session != "" || a.Checkpoint == "" {
			t.Errorf("%s commands at a time: %+v", live, a)
		}
	}
}

// TestLinkedForks: each command commits on the branch of its fork, and the first directory does not move.
func TestLinkedForks(t *testing.T) {
	t.Parallel()
	w, o := newWorld(t), gittest.NewOracle(t)
	o.Init(w.root)
	head := o.Commit(w.root, "first")
	opt := w.options(2, `echo try $CAIRN_BEST > a; git commit -q -a -m "try $CAIRN_BEST"`)
	opt.Environ, opt.GitWorktree = o.Env(), true
	for _, a := range w.run(opt).Forks {
		k := strconv.Itoa(a.Number)
		if !a.Good() || o.In(w.root, "log", "--format=%s", "main..cairn/project-"+k) != "try "+k+"\n" {
			t.Errorf("%+v: %s", a, w.read("project-"+k+".log"))
		}
	}
	if now := strings.TrimSpace(o.In(w.root, "rev-parse", "HEAD")); now != head || o.In(w.root, "status", "--porcelain") != "" {
		t.Errorf("the first directory is at %s, not %s", now, head)
	}
}

// TestMissingCommand: a program that only some forks could have is not there.
func TestMissingCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opt := w.options(2, "")
	opt.Command = []string{"./missing"}
	res := w.run(opt)
	for i := range res.Forks {
		a := &res.Forks[i]
		if a.Good() || a.Status != 127 || !strings.Contains(a.Error, "cannot run ./missing") || a.Session != "" {
			t.Errorf("%+v", a)
		}
	}
}

// TestUnnotedTest: the result of a test that changes files, or that is killed, is not noted.
func TestUnnotedTest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opt := w.options(2, "echo 2 > b")
	opt.Test = []string{"sh", "-c", "case $CAIRN_BEST in 1) echo more >> b;; 2) kill -KILL $$;; esac"}
	res := w.run(opt)
	if a := &res.Forks[0]; a.Number != 1 || !a.Good() || a.Note != "b changed while the test ran" || a.Files != 1 {
		t.Errorf("%+v", a)
	}
	if a := &res.Forks[1]; a.Good() || a.Test.Status != 137 || !strings.Contains(a.Note, "did not end by itself") {
		t.Errorf("%+v", a)
	}
}

// TestInterrupt: the end of the context ends all commands with the processes that they have started. The
// forks stay, with a checkpoint of the work so far.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fifo("alive")
	w.fifo("never")
	opt := w.options(2, `echo work > b; exec 3> $WORLD/alive
(trap '' TERM; echo child >&3; read line < $WORLD/never) & echo parent >&3; wait`)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := Run(ctx, w.repo, opt)
		done <- err
	}()
	fifo, err := os.Open(filepath.Join(w.dir, "alive"))
	if err != nil {
		t.Fatal(err)
	}
	defer fifo.Close()
	lines := bufio.NewReader(fifo)
	for range 4 {
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 { // it ends with the last process
		t.Fatalf("%q, %v", rest, err)
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	forks, err := w.repo.Forks(t.Context())
	if err != nil || len(forks) != 2 || forks[0].Changed != 1 || forks[1].Changed != 1 {
		t.Errorf("%+v, %v", forks, err)
	}
}

// TestPlaces: a place that is taken stops the run before a fork is made; an ignored file comes along where
// that is asked for; no log of an earlier run is replaced.
func TestPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gittest.Create(t, filepath.Join(w.dir, "other"), gittest.Tree{"project-2/mine": gittest.File("m"), "project-1.log": gittest.File("old\n")})
	opt := w.options(2, "cat dep/lib")
	opt.Below, opt.WithIgnored = filepath.Join(w.dir, "other"), true
	if _, err := Run(t.Context(), w.repo, opt); !errors.Is(err, cairn.ErrPlace) || !strings.Contains(err.Error(), "project-2") {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(w.dir, "other", "project-1")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	opt.Count = 1
	res := w.run(opt)
	if !res.Forks[0].Good() || w.read("other/project-1.log") != "old\n" || w.read("other/project-1.2.log") != "lib\n" {
		t.Errorf("%+v", res.Forks)
	}
}

// TestForkFails: no command starts, and the error names the forks that are there.
func TestForkFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opt := w.options(3, "touch $WORLD/started")
	opt.Say = func(text string) {
		if strings.Contains(text, "fork 1 of 3") { // the next place is taken meanwhile
			gittest.Create(t, w.root+"-2", gittest.Tree{"mine": gittest.File("m")})
		}
	}
	_, err := Run(t.Context(), w.repo, opt)
	if err == nil || !strings.Contains(err.Error(), "fork 2 of 3") || !strings.Contains(err.Error(), "no command was started") ||
		!strings.HasSuffix(err.Error(), "that are there: "+w.root+"-1") {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(w.dir, "started")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a command was started")
	}
}
