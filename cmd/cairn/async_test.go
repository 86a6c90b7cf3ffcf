package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/process"
)

// desk is a project whose background processes the test carries out itself, when it
// likes.
type desk struct {
	*testing.T
	home, dir string
	spawned   [][]string
	refuse    error              // what keeps processes from being started
	agent     []process.Relative // above the hooks, nil = the processes above the test
	ctx       context.Context
}

func newDesk(t *testing.T, tree gittest.Tree) *desk {
	t.Helper()
	d := &desk{T: t, home: t.TempDir(), dir: filepath.Join(t.TempDir(), "project"), ctx: t.Context()}
	gittest.Create(t, d.dir, tree)
	return d
}

func (d *desk) run(args ...string) call {
	var stdout, stderr bytes.Buffer
	c := newProgram(strings.NewReader(""), &stdout, &stderr, homeOnly(d.home), d.dir)
	c.Spawn = func(args []string) error {
		if d.refuse == nil {
			d.spawned = append(d.spawned, args)
		}
		return d.refuse
	}
	status := c.Run(d.ctx, args)
	return call{status, stdout.String(), stderr.String()}
}

// must is run for what ends with status 0; it returns the answer without the newline.
func (d *desk) must(args ...string) string {
	d.Helper()
	got := d.run(args...)
	if got.status != cli.ExitDone {
		d.Fatalf("%q: %+v", args, got)
	}
	return strings.TrimSuffix(got.stdout, "\n")
}

// work lets the background processes run that were started.
func (d *desk) work() {
	d.Helper()
	list := d.spawned
	d.spawned = nil
	for _, args := range list {
		if got := d.run(args...); got != (call{}) {
			d.Fatalf("%q: %+v", args, got)
		}
	}
}

func (d *desk) write(name, content string) {
	d.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(content), 0o644); err != nil {
		d.Fatal(err)
	}
}

func trackOf(t *testing.T, text string) *cairn.TrackResult {
	t.Helper()
	var tr cairn.TrackResult
	if err := json.Unmarshal([]byte(text), &tr); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return &tr
}

// TestAsyncSameAnswer: wait prints what track prints, whether the process in the
// background or wait did the work, and there is one checkpoint for each ticket.
func TestAsyncSameAnswer(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"the background", "wait"} {
		d := newDesk(t, gittest.Tree{"a": gittest.File("1\n"), "pipe": gittest.File("much too large for this\n")})
		ticket := d.must("track", "--async", "-m", "x", "--max-file-size", "10")
		if len(d.spawned) != 1 {
			t.Fatalf("started: %q", d.spawned)
		}
		if who == "the background" {
			d.work()
		}
		first, again, asJSON := d.run("wait", ticket), d.run("wait", ticket), d.run("wait", ticket, "--json")
		if first.status != cli.ExitDone || first != again || !strings.Contains(first.stderr, "pipe: too large") {
			t.Errorf("%s: %+v, then %+v", who, first, again)
		}
		if who == "wait" {
			d.work() // that comes too late, and finds nothing to do
		}
		other := newDesk(t, nil)
		other.dir = d.dir
		plain := other.run("track", "-m", "x", "--max-file-size", "10")
		if plain.status != first.status || plain.stdout != first.stdout || plain.stderr != first.stderr {
			t.Errorf("%s: %+v, but track gives %+v", who, first, plain)
		}
		got := trackOf(t, asJSON.stdout)
		if asJSON.status != cli.ExitDone || got.Hash+"\n" != plain.stdout || got.Changed != 1 || len(got.Skipped) != 1 {
			t.Errorf("%s: %+v", who, asJSON)
		}
		if log := d.must("log"); strings.Count(log, "\n") != 0 {
			t.Errorf("%s: more than one checkpoint:\n%s", who, log)
		}
	}
}

// TestAsyncVouches: the state is one between the call and the end of wait.
func TestAsyncVouches(t *testing.T) {
	t.Parallel()
	d := newDesk(t, gittest.Tree{"a": gittest.File("before\n")})
	ticket := d.must("track", "--async")
	d.work()
	d.write("a", "after\n")
	hash := d.must("wait", ticket)
	if got := d.must("cat", hash, "a"); got != "before" {
		t.Errorf("%q", got)
	}
	if again := d.must("track"); again == hash {
		t.Error("the state after is not another one")
	}
}

// TestAsyncNoProcess: where none can be started, it is said, and wait does the work.
func TestAsyncNoProcess(t *testing.T) {
	t.Parallel()
	d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
	d.refuse = errors.New("too many processes")
	got := d.run("track", "--async")
	if got.status != cli.ExitDone || !strings.Contains(got.stderr, "too many processes") {
		t.Errorf("%+v", got)
	}
	if hash := d.must("wait", strings.TrimSpace(got.stdout)); len(hash) != 40 {
		t.Errorf("%q", hash)
	}
}

// TestAsyncMany: tickets that are made, worked on and waited for at the same time.
func TestAsyncMany(t *testing.T) {
	t.Parallel()
	d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
	var tickets []string
	for n := range 6 {
		tickets = append(tickets, d.must("track", "--async", "-m", fmt.Sprint(n)))
	}
	started := d.spawned
	var all sync.WaitGroup
	var mu sync.Mutex
	answers := make(map[string][]call)
	for i := range tickets {
		all.Go(func() { runHere(t, d.dir, d.home, "", started[i]...) })
		for range 2 {
			all.Go(func() {
				got := runHere(t, d.dir, d.home, "", "wait", "--json", tickets[i])
				mu.Lock()
				defer mu.Unlock()
				answers[tickets[i]] = append(answers[tickets[i]], got)
			})
		}
	}
	all.Wait()
	commits := make(map[string]bool)
	for _, ticket := range tickets {
		a := answers[ticket]
		if a[0] != a[1] || a[0].status != cli.ExitDone {
			t.Errorf("%+v", a)
			continue
		}
		commits[trackOf(t, a[0].stdout).Checkpoint] = true
	}
	if log := d.must("log"); len(commits) != len(tickets) || strings.Count(log, "\n") != len(tickets)-1 {
		t.Errorf("%d checkpoints:\n%s", len(commits), log)
	}
}

// TestWaitInterrupted: a signal, or the end of the time, ends the wait and not the work.
func TestWaitInterrupted(t *testing.T) {
	t.Parallel()
	d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
	d.must("track")
	ticket := d.must("track", "--async", "-m", "x")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	d.ctx = cancelled
	if got := d.run("wait", ticket); got.status != cli.ExitInterrupted || got.stdout != "" || !strings.HasPrefix(got.stderr, "cairn: interrupted") {
		t.Errorf("%+v", got)
	}
	d.ctx = t.Context()
	if got := d.run("wait", ticket, "--timeout", "0s"); got.status != cli.ExitFailed || !strings.Contains(got.stderr, "no answer yet") {
		t.Errorf("%+v", got)
	}
	d.work()
	d.must("wait", ticket, "--timeout", "0s")
	d.must("wait", ticket)
}

// TestWaitInterruptedWork: the same while wait itself does the work. An interrupted
// ticket does not count as failed.
func TestWaitInterruptedWork(t *testing.T) {
	t.Parallel()
	d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
	var status struct{ Root, Store string }
	d.must("track")
	if err := json.Unmarshal([]byte(d.must("status", "--json")), &status); err != nil {
		t.Fatal(err)
	}
	db, err := odb.Open(status.Store, status.Root, odb.Options{Command: "a test"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	unlock, err := db.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ticket := d.must("track", "--async", "-m", "x")
	if got := d.run("wait", ticket, "--timeout", "20ms"); got.status != cli.ExitFailed || !strings.Contains(got.stderr, "no answer yet") {
		t.Errorf("%+v", got)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	d.must("wait", ticket)
}

// TestAsyncLate: the end of a step whose beginning was still to be captured warns that
// the state before is missing, and a gate in time says nothing.
func TestAsyncLate(t *testing.T) {
	t.Parallel()
	d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
	d.must("session", "begin", "s")
	d.must("session", "step", "begin", "s", "--async", "--step", "1")
	d.write("a", "2\n")
	got := d.run("session", "step", "end", "s")
	if got.status != cli.ExitPartly || !strings.Contains(got.stderr, "captured only now") {
		t.Errorf("%+v", got)
	}
	d.work()
	ticket := d.must("session", "step", "begin", "s", "--async", "--step", "2", "--meta", "k=v")
	if async, plain := d.must("wait", ticket, "--json"), d.must("session", "step", "begin", "s", "--step", "2", "--json"); async != plain {
		t.Errorf("%s\nis not\n%s", async, plain)
	}
	if got := d.run("session", "hint", "s", "a"); got != (call{}) {
		t.Errorf("%+v", got)
	}
	d.write("a", "3\n")
	var st struct {
		ID    string
		Patch struct{ Files []string }
	}
	if err := json.Unmarshal([]byte(d.must("session", "step", "end", "s", "--json")), &st); err != nil || st.ID != "2" || len(st.Patch.Files) != 1 {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestAsyncStepOrder: steps begin in the order of their requests, whichever process
// does the work, also where another command asks for one in between.
func TestAsyncStepOrder(t *testing.T) {
	t.Parallel()
	d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
	d.must("session", "step", "begin", "s", "--async", "--step", "1")
	last := d.must("session", "step", "begin", "s", "--async", "--step", "2")
	slices.Reverse(d.spawned)
	d.work()
	d.must("wait", last)
	d.must("session", "step", "begin", "s", "--async", "--step", "3")
	d.must("session", "step", "begin", "s", "--step", "4")
	d.work()
	d.must("session", "step", "end", "s")
	var shown struct {
		History []struct{ Steps []struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(d.must("session", "show", "s", "--json")), &shown); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(shown.History); got != "[{[{1} {2} {3} {4}]}]" {
		t.Error(got)
	}
}

// TestAsyncStepFails: wait, hint and step end say why a step has not begun.
func TestAsyncStepFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
	d.must("session", "begin", "s")
	own := filepath.Join(d.home, ".config", "cairn", "config.toml")
	gittest.Create(t, filepath.Dir(own), gittest.Tree{"config.toml": gittest.File("enabled = false\n")})
	ticket := d.must("session", "step", "begin", "s", "--async", "--step", "1")
	d.work()
	if got := d.run("wait", ticket); got.status != cli.ExitFailed || !strings.Contains(got.stderr, "switched off") {
		t.Errorf("%+v", got)
	}
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	if got := d.run("session", "step", "end", "s", "--step", "1"); got.status != cli.ExitNotFound || !strings.Contains(got.stderr, "switched off") {
		t.Errorf("%+v", got)
	}
}

// TestRestIsWhole: whatever the edits and the named paths, the checkpoint of the rest
// is the one that a track of everything takes.
func TestRestIsWhole(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 5))
	tree := gittest.RandomTree(rng, gittest.RandomOptions{})
	d := newDesk(t, tree)
	full := newDesk(t, nil)
	full.dir = d.dir
	d.must("track")
	full.must("track")
	for n := range 12 {
		edits := gittest.Mutate(t, rng, d.dir, 1+rng.IntN(6))
		named := []string{"."}
		for path := range tree {
			if named = append(named, filepath.Join(d.dir, filepath.FromSlash(path))); len(named) > 3 {
				break
			}
		}
		named = named[1:]
		got := d.run(append([]string{"track", "--only-paths", "--json"}, named...)...)
		var answer struct{ Scope, Rest string }
		if err := json.Unmarshal([]byte(got.stdout), &answer); err != nil || answer.Scope != "paths" || answer.Rest == "" {
			t.Fatalf("round %d: %+v, %v", n, got, err)
		}
		if n%2 == 0 {
			d.work()
		}
		rest := d.run("wait", answer.Rest)
		d.work()
		want := full.run(append([]string{"track", "--paths"}, named...)...)
		if rest.stdout == "" || rest.stdout != want.stdout {
			t.Fatalf("round %d: the rest gives %+v, a full track %+v; named %q after %q", n, rest, want, named, edits)
		}
		if newest := d.run("log", "--json", "-n", "1"); !strings.Contains(newest.stdout, strings.TrimSpace(rest.stdout)) {
			t.Errorf("round %d: the newest is %s", n, newest.stdout)
		}
	}
}

// TestRestSaid: stderr names the ticket of the rest, and where the rest cannot be begun
// the answer about the paths stands.
func TestRestSaid(t *testing.T) {
	t.Parallel()
	d := newDesk(t, gittest.Tree{"a": gittest.File("1\n"), "b": gittest.File("2\n")})
	got := d.run("track", "--only-paths", "a")
	if got.status != cli.ExitDone || len(got.stdout) != 41 || !strings.Contains(got.stderr, "everything else is captured in the background (cairn wait t") {
		t.Errorf("%+v", got)
	}
	if again := d.run("track", "--only-paths", "a", "-q"); again != (call{0, got.stdout, ""}) {
		t.Errorf("%+v", again)
	}
	d.work()
	tickets := filepath.Join(d.home, ".local", "share", "cairn", "tickets")
	if os.RemoveAll(tickets) != nil || os.WriteFile(tickets, nil, 0o600) != nil {
		t.Skip("the data directory lies elsewhere on this system")
	}
	if again := d.run("track", "--only-paths", "a"); again.status != cli.ExitDone || again.stdout != got.stdout || !strings.Contains(again.stderr, "the rest is not captured") {
		t.Errorf("%+v", again)
	}
	if got := d.run("track", "--async"); got.status != cli.ExitFailed || got.stdout != "" {
		t.Errorf("%+v", got)
	}
}

// TestCompleteTickets: the newest first.
func TestCompleteTickets(t *testing.T) {
	t.Parallel()
	d := newDesk(t, gittest.Tree{"a": gittest.File("1\n")})
	one, two := d.must("track", "--async"), d.must("track", "--async")
	got := d.must("__complete", "wait", "t")
	lines := strings.Split(got, "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], two) || !strings.HasPrefix(lines[1], one) {
		t.Errorf("%q", got)
	}
}
