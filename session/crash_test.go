package session_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestMain lets the test binary stand in for another process.
func TestMain(m *testing.M) {
	if command := os.Getenv("CAIRN_TEST_COMMAND"); command != "" {
		os.Exit(commandAsProcess(command))
	}
	if real := os.Getenv("CAIRN_TEST_GIT"); real != "" {
		os.Exit(gitUnderTrace(real))
	}
	gittest.Prepare()
	// Runs are repeatable; -rapid.seed=N explores, -rapid.checks=N goes on for longer.
	checks := "10"
	if gittest.Full() {
		checks = "25"
	}
	for name, value := range map[string]string{"rapid.seed": "7", "rapid.checks": checks} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// commandAsProcess is the process that gets killed.
func commandAsProcess(command string) int {
	r, err := cairn.Open(cairn.Options{Root: os.Getenv("CAIRN_TEST_ROOT"), DataDir: os.Getenv("CAIRN_TEST_DATA")})
	if err == nil {
		defer r.Close()
		s := session.New(r)
		switch command {
		case "end":
			_, err = s.EndStep(background, session.StepEnd{Session: "s"})
		case "revert":
			_, _, err = s.Revert(background, "s", session.Target{Message: "m2"}, session.MoveOptions{})
		case "git":
			err = gitBackAsProcess(s)
		case "outside":
			err = outsideAsProcess(s)
		case "roots undo":
			_, err = r.Undo(background, cairn.RevertOptions{})
		case "resume":
			var res *cairn.Result
			if res, err = s.Resume(background, "s", cairn.RestoreOptions{}); err == nil && !res.Complete() {
				err = fmt.Errorf("incomplete: %+v", res)
			}
		case "move":
			_, _, err = s.Revert(background, "s", session.Target{Start: true}, session.MoveOptions{})
		case "commit":
			_, err = s.CommitTurns(background, "s", nil, session.GitCommitOptions{Env: os.Environ()})
		case "unrevert":
			_, _, err = s.Unrevert(background, "s", session.MoveOptions{})
		case "go on":
			parent, _ := session.ProcessOf(os.Getppid()) // the step outlives the process that is killed
			owner := &session.Owner{Processes: []session.Process{parent}}
			_, err = s.BeginStep(background, session.StepBegin{Session: "s", Message: "m3", Step: "3", Owner: owner})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// crashCase is one command that is killed at each of its system calls, from the same
// start.
type crashCase struct {
	command string
	prepare func(f *fixture)

	// told says what the session tells when nothing was done, and when all was.
	old, new string
}

// tell is the state of a session in short.
func (f *fixture) tell() string {
	f.Helper()
	s := f.get("s")
	text := fmt.Sprint(s.Messages, " messages, ", s.Steps, " steps")
	if s.Open != "" {
		text += ", open"
	}
	if s.Revert != nil {
		text += ", at " + s.Revert.Message
	}
	return text
}

func twoSteps(f *fixture) {
	f.step("s", "m1", "1", func() { f.write("a", "2\n"); f.remove("gone"); f.write("d/new", "n\n") })
	f.step("s", "m2", "2", func() {
		f.write("a", "3\n")
		f.remove("d")
		f.write("d", "a file now\n")
		os.Mkdir(f.path("empty"), 0o755)
	})
}

var crashCases = []crashCase{
	{"end", func(f *fixture) { f.begin("s", "m1", "1"); f.write("a", "2\n"); f.write("made", "m\n") }, "1 messages, 1 steps, open", "1 messages, 1 steps"},
	{"revert", twoSteps, "2 messages, 2 steps", "1 messages, 1 steps, at m2"},
	{"move", func(f *fixture) { twoSteps(f); f.revert("s", session.Target{Message: "m2"}) }, "1 messages, 1 steps, at m2", "0 messages, 0 steps, at m1"},
	{"unrevert", func(f *fixture) { twoSteps(f); f.revert("s", session.Target{Start: true}) }, "0 messages, 0 steps, at m1", "2 messages, 2 steps"},
	{"go on", func(f *fixture) { twoSteps(f); f.revert("s", session.Target{Message: "m2"}) }, "1 messages, 1 steps, at m2", "2 messages, 2 steps, open"},
}

// TestR93_KilledInASession: whatever is killed, and wherever, the files and what the
// session tells of them are both as before, or both as after, once the next command
// has run; and the same command again brings it about.
func TestR93_KilledInASession(t *testing.T) {
	t.Parallel()
	for _, c := range crashCases {
		t.Run(c.command, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c *crashCase) run(t *testing.T) {
	f := newFixture(t, gittest.Tree{"a": gittest.File("1\n"), "gone": gittest.File("g\n")})
	c.prepare(f)
	f.repo.Close()
	pristine, oracle := t.TempDir(), gittest.NewOracle(t)
	gittest.CopyTree(t, f.root, filepath.Join(pristine, "root"))
	gittest.CopyTree(t, f.data, filepath.Join(pristine, "data"))
	env := append(os.Environ(), "CAIRN_TEST_COMMAND="+c.command, "CAIRN_TEST_ROOT="+f.root, "CAIRN_TEST_DATA="+f.data, "GOMAXPROCS=2")
	old := gittest.Manifest(t, f.root)
	crash := gittest.Undisturbed(t, []string{os.Args[0]}, env)
	if crash.ExitCode != 0 {
		t.Fatalf("undisturbed: %s", crash)
	}
	f.reopen()
	if f.tell() != c.new {
		t.Fatalf("undisturbed, the session has %s", f.tell())
	}
	f.repo.Close()
	done := gittest.Manifest(t, f.root)
	gittest.Killed(t, 2*gittest.Stride(), func(n int) gittest.Crash {
		gittest.CopyTree(t, filepath.Join(pristine, "root"), f.root)
		gittest.CopyTree(t, filepath.Join(pristine, "data"), f.data)
		return gittest.KillAt(t, []string{os.Args[0]}, env, gittest.WriteCalls, n)
	}, func(when string) {
		f.reopen()
		oracle.Fsck(f.repo.StoreDir())
		if _, err := f.repo.Track(background, cairn.TrackOptions{}); err != nil { // the next command, whatever it is
			t.Fatal(err)
		}
		want, told := old, c.old
		if f.tell() == c.new {
			want, told = done, c.new
		}
		if diff := gittest.Diff(want, gittest.Manifest(t, f.root)); diff != "" || f.tell() != told {
			t.Fatalf("%s: the session has %s, and\n%s", when, f.tell(), diff)
		}
		f.repo.Close()
		if crash := gittest.Undisturbed(t, []string{os.Args[0]}, env); crash.ExitCode != 0 && c.command != "end" {
			t.Fatalf("again, %s: %s", when, crash)
		}
		f.reopen()
		gittest.AssertEqual(t, "after the same again", done, gittest.Manifest(t, f.root))
		if f.tell() != c.new {
			t.Errorf("again, %s: the session has %s", when, f.tell())
		}
		oracle.Fsck(f.repo.StoreDir())
		f.repo.Close()
	})
}
