//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/ticket"
)

// TestAsyncKilled kills the process in the background at every second call that changes
// files. A wait after that takes the checkpoint itself, says so if the process had
// begun, and leaves a sound store and one checkpoint, not two.
func TestAsyncKilled(t *testing.T) {
	t.Parallel()
	gittest.LongUnlessRace(t)
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	tree := gittest.Tree{"a": gittest.File("1\n"), "d/b": gittest.File("2\n")}
	want := newDesk(t, tree).must("track")
	told, stride := 0, 2
	if testing.Short() {
		stride = 7
	}
	for n := 1; ; n += stride {
		d := newDesk(t, tree)
		id := d.must("track", "--async", "-m", "x")
		crash := d.killSpawned(program, gittest.WriteCalls, n)
		d.spawned = nil
		got := d.run("wait", id)
		if got.status != cli.ExitDone || got.stdout != want+"\n" {
			t.Fatalf("%v: %+v", crash, got)
		}
		if strings.Contains(got.stderr, "has ended without it") {
			told++
		}
		if log := d.must("log"); strings.Count(log, "\n") > 1 || !strings.Contains(log, want[:cli.ShortID]) {
			t.Errorf("%v: log\n%s", crash, log)
		}
		if again := d.must("wait", id); again != want {
			t.Errorf("%v: asked again: %s", crash, again)
		}
		d.sound(crash)
		if !crash.Hit {
			t.Logf("killed up to call %d; wait told of it %d times", n-1, told)
			break
		}
	}
	if told == 0 {
		t.Error("nobody was told that the process had died")
	}
}

// TestAsyncKilledStep: the same with the beginning of a step, whose gate is the next
// command of the session.
func TestAsyncKilledStep(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	const calls = "rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,fsync"
	for n := 1; ; n += 3 {
		d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
		d.must("track")
		d.must("session", "step", "begin", "s", "--step", "1", "--async")
		crash := d.killSpawned(program, calls, n)
		if got := d.run("session", "hint", "s", "a"); got.status != cli.ExitDone {
			t.Fatalf("%v: %+v", crash, got)
		}
		d.write("a", "2\n")
		if got := d.must("session", "step", "end", "s", "--json"); !strings.Contains(got, `/a"]}`) {
			t.Errorf("%v: %s", crash, got)
		}
		if !crash.Hit {
			break
		}
	}
}

// TestAsyncLooksAtNothing: the number of system calls of a front process does not
// depend on the number of files, and it makes no store.
func TestAsyncLooksAtNothing(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	count := func(dirs int, args ...string) map[string]int {
		tree := make(gittest.Tree)
		for n := range dirs {
			tree[fmt.Sprintf("d%d/f", n)] = gittest.File("x\n")
		}
		d := newDesk(t, tree)
		env := []string{"HOME=" + d.home, "USERPROFILE=" + d.home, "PATH=/nowhere", "GODEBUG=asyncpreemptoff=1"}
		// The first call makes the directory; its process is waited for.
		d.must(append([]string{"-q"}, args...)...)
		for _, args := range d.spawned {
			d.run(args...)
		}
		calls := gittest.CountSyscalls(t, append([]string{program, "-C", d.dir}, args...), env, "openat,getdents64,pread64")
		book := ticket.In(filepath.Join(d.home, ".local", "share", "cairn"))
		ids, err := book.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids { // so that no process is left running
			d.must("wait", id)
		}
		return calls
	}
	for _, args := range [][]string{{"track", "--async"}, {"session", "step", "begin", "s", "--async"}} {
		few, many := count(2, args...), count(400, args...)
		for name, n := range many {
			if n > few[name] {
				t.Errorf("%q: %d times %s with 400 directories, %d with 2", args, n, name, few[name])
			}
		}
		t.Logf("%q: %v", args, many)
	}
	d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
	d.must("track", "--async")
	if _, err := os.Stat(cairn.StorePath(filepath.Join(d.home, ".local", "share", "cairn"), d.dir)); err == nil {
		t.Error("the front has made a store")
	}
}

// TestAsyncServer: with a server its tickets need no process, and if the server is
// killed, wait does the work.
func TestAsyncServer(t *testing.T) {
	t.Parallel()
	data := socketData(t)
	dir := filepath.Join(t.TempDir(), "project")
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1\n")})
	s := &serving{t: t, data: data}
	s.start(dir)
	text := func(args ...string) string {
		t.Helper()
		out, status := s.cairn(dir, args...)
		if status != cli.ExitDone {
			t.Fatalf("%q: status %d", args, status)
		}
		return strings.TrimSpace(out)
	}
	// On a busy machine a command may lose its patience with the server.
	served := ""
	for end := time.Now().Add(time.Minute); served == ""; {
		id := text("track", "--async", "-m", "by the server")
		text("wait", id)
		if status, body := s.get("/tickets/" + id + "?wait=60000"); status != 200 || !strings.Contains(body, `"done":true`) {
			t.Fatalf("%d: %s", status, body)
		}
		request, err := os.ReadFile(filepath.Join(data, "tickets", id+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(request), "flags") {
			served = id
		}
		if time.Now().After(end) {
			t.Fatal("no command uses the server")
		}
	}
	only := text("track", "--only-paths", "a", "--json")
	_, rest, _ := strings.Cut(only, `"rest":"`)
	if len(rest) < 21 {
		t.Fatal(only)
	}
	whole := text("wait", rest[:21])
	if again := text("track", "--verify"); again != whole {
		t.Errorf("the rest is %s, all is %s", whole, again)
	}
	step := text("session", "step", "begin", "s", "--async")
	text("session", "hint", "s", "a")
	text("wait", step)
	text("session", "step", "end", "s")
	last := text("track", "--async")
	s.end(syscall.SIGKILL)
	if hash := text("wait", last); hash != whole {
		t.Errorf("after the server's death: %s, not %s", hash, whole)
	}
	text("wait", served)
}
