//go:build unix

package programmodel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The unprivileged user of the histories in which modes matter.
const nobody = 65534

// maxFileSize is the limit of the histories, so that large files are cheap.
const maxFileSize = 3000

// world is a project with everything around it, and what the model knows about it.
type world struct {
	t                      *testing.T
	base, root, home, data string
	scratch                string // a git directory that asks for ignore rules
	uid                    int    // 0: as the test
	seed                   uint64
	rng                    *rand.Rand
	names                  []string
	log                    []string
	step                   int
	written                int // makes contents differ
	points                 []*point
	ops                    map[string]*operation // by id
	agents                 []*agent
	pinned                 map[string]string // name -> checkpoint
	serving                *exec.Cmd
	socket                 string // of the server
	focus                  string // see action
	bold                   bool   // ways back overwrite and end open steps
	closed                 bool   // modes that keep the owner out are used
}

func newWorld(t *testing.T, seed uint64) *world {
	base, err := os.MkdirTemp("", "world")
	if err != nil {
		t.Fatal(err)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, base: base, seed: seed, ops: make(map[string]*operation), pinned: make(map[string]string)}
	w.rng = rand.New(rand.NewPCG(seed, 1<<32))
	w.root, w.home, w.data = base+"/root", base+"/home", base+"/data"
	w.scratch = base + "/scratch.git"
	if os.Geteuid() == 0 && w.rng.IntN(3) > 0 {
		w.uid = nobody
		w.closed = w.rng.IntN(2) == 0
	}
	w.focus, w.bold = pick(w.rng, focuses), w.rng.IntN(4) == 0
	w.chooseNames()
	for _, dir := range []string{w.root, w.home, w.data} {
		w.must(os.Mkdir(dir, 0o755))
		w.own(dir)
	}
	w.must(os.Chmod(base, 0o755))
	w.own(base)
	w.git("", "init", "-q", "--bare", "--template=", w.scratch)
	w.must(os.MkdirAll(w.scratch+"/info", 0o755))
	w.own(w.scratch + "/info")
	for range 8 {
		w.createSome()
	}
	return w
}

func (w *world) end() {
	w.stopServer()
	if err := os.RemoveAll(w.base); err != nil {
		w.must(exec.Command("chmod", "-R", "u+rwx", w.base).Run())
		w.must(os.RemoveAll(w.base))
	}
}

// begin gives a step its own generator: it draws the same whichever steps are left out.
func (w *world) begin(n int) {
	w.step = n
	w.rng = rand.New(rand.NewPCG(w.seed, uint64(n)))
}

func (w *world) say(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%3d ", w.step)+fmt.Sprintf(format, args...))
}

// must is for what the model itself does.
func (w *world) must(err error) {
	if err != nil {
		panic(fmt.Errorf("step %d: %w\n%s", w.step, err, strings.Join(w.log, "\n")))
	}
}

// own gives what the test has made to the user of the history.
func (w *world) own(path string) {
	if w.uid != 0 {
		w.must(os.Lchown(path, w.uid, w.uid))
	}
}

func (w *world) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + w.base, "LC_ALL=C",
		"CAIRN_DATA_DIR=" + w.data, "CAIRN_NO_BACKGROUND=1", "CAIRN_MIN_FREE_BYTES=none",
		fmt.Sprint("CAIRN_MAX_FILE_SIZE=", maxFileSize),
		"GIT_AUTHOR_NAME=m", "GIT_AUTHOR_EMAIL=m@localhost", "GIT_COMMITTER_NAME=m", "GIT_COMMITTER_EMAIL=m@localhost",
	}
}

// command is a program that runs as the user of the history.
func (w *world) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = w.env(), w.root
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if w.uid != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(w.uid), Gid: uint32(w.uid)}
	}
	return cmd
}

// git runs git in dir; "" is the root. What it says is returned, failed or not.
func (w *world) git(dir string, args ...string) (string, error) {
	cmd := w.command("git", args...)
	cmd.Dir = filepath.Join(w.root, dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := bounded(cmd)
	return out.String(), err
}

// bounded runs a command and kills its process group when it does not end.
func bounded(cmd *exec.Cmd) error {
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	timer := time.AfterFunc(patience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	return cmd.Wait()
}

// answer is what a cairn command said.
type answer struct {
	args           []string
	stdout, stderr string
	code           int
	killed         bool
	overHTTP       bool // it has no status
}

// patience ends a command that hangs: a defect, and told as such.
const patience = 2 * time.Minute

// cairn runs the program with --json, or asks its server.
func (w *world) cairn(args ...string) answer {
	if a, asked := w.overHTTP(args); asked {
		return a
	}
	return w.cairnWith(nil, -1, args...)
}

// cairnWith runs the program with further variables, and kills it after a while
// unless that is negative.
func (w *world) cairnWith(env []string, killAfter time.Duration, args ...string) answer {
	var stdout, stderr bytes.Buffer
	cmd := w.command(program, append([]string{"--json"}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	w.must(cmd.Start())
	a := answer{args: args}
	kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	limit := patience
	if killAfter >= 0 {
		limit = killAfter
	}
	timer := time.AfterFunc(limit, kill)
	err := cmd.Wait()
	timer.Stop()
	a.stdout, a.stderr, a.code = stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	var exit *exec.ExitError
	a.killed = errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled()
	w.say("cairn %q: %d %s%s", args, a.code, oneLine(a.stdout, 600), oneLine(" "+a.stderr, 300))
	if a.killed && killAfter < 0 {
		w.fail("hangs", "%q did not end: %s", args, a.stderr)
	}
	if strings.Contains(a.stderr, "goroutine ") || a.code == 2 && !a.killed {
		w.fail("crash", "%q: %s", args, a.stderr)
	}
	return a
}

func oneLine(text string, limit int) string {
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", " ")
	if len(text) > limit {
		text = text[:limit] + "..."
	}
	return text
}

// decode reads the JSON of an answer.
func (w *world) decode(a answer, to any) {
	if err := json.Unmarshal([]byte(a.stdout), to); err != nil {
		w.fail("json", "%q answers %q: %v", a.args, a.stdout, err)
	}
}
