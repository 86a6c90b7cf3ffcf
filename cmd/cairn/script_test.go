package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/identity"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

func TestMain(m *testing.M) {
	gittest.Prepare()
	cairn := func() {
		cli.SystemGitConfig = nil // whatever this machine's is
		main()
	}
	testscript.Main(m, map[string]func(){"cairn": cairn, "payload": func() { feedHook(cairn) }, "counts-signals": countSignals})
}

// TestScript runs the scripts. Each has a home of its own, and no variable of the
// environment in which the tests run. Beside testscript's commands they have:
//
//	exits N cmd...           run cmd, which must end with status N
//	node KIND PATH [TEXT]    make a file, exec, private, link, dir or fifo in the place
//	                         of what is there, or leave it gone; PATH and TEXT may be
//	                         quoted as in Go
//	manifest save NAME DIR   remember everything below DIR, times included
//	manifest same NAME DIR   ... which must be as remembered, or without "times"
//	         [-notimes]      but for the times of modification
//	json KEY WANT            the last stdout is JSON and has WANT at KEY (a.0.b); the
//	                         length of an array or a text is at a.len
//	let VAR [KEY]            set VAR to the last stdout, or to what its JSON has at KEY
//	nul PATH...              the last stdout is exactly these, NUL after each
//	patches FILE HASH PATH   write the JSON of patches, one for each further HASH PATH
//	payload AGENT JSON       a program: cairn hook AGENT with this on stdin, as feedHook does
//	hold                     keep the store of project locked until the script ends
//	swarm N M                run N lines of M tracks at once; all must succeed
//
// With -short it takes every tenth script.
func TestScript(t *testing.T) {
	t.Parallel()
	params := scriptParams(t)
	if testing.Short() {
		params.Dir, params.Files = "", everyScript(t, 10, nil)
	}
	testscript.Run(t, params)
}

func scriptParams(t *testing.T) testscript.Params {
	t.Helper()
	return testscript.Params{
		Dir: filepath.Join("testdata", "script"), RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			for _, name := range []string{"HOME", "USERPROFILE", "LocalAppData"} {
				env.Setenv(name, home)
			}
			program, err := exec.LookPath("cairn")
			env.Setenv("CAIRN", program)
			env.Values["tb"] = env.T().(testing.TB)
			env.Values["manifests"] = make(map[string]gittest.Listing)
			return errors.Join(err, os.MkdirAll(home, 0o755))
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "births": // the file system knows when a directory was made
				_, ok := identity.DirectoryAt(os.TempDir())
				return ok, nil
			case "midnight": // has passed since the tests began, in UTC
				return dayOf(time.Now()) != dayOf(begun), nil
			}
			return false, fmt.Errorf("unknown condition %s", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "node": node, "manifest": manifest, "json": jsonHas, "let": let, "nul": nul,
			"patches": patches, "hold": hold, "swarm": swarm,
		},
	}
}

var begun = time.Now()

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func tb(ts *testscript.TestScript) testing.TB { return ts.Value("tb").(testing.TB) }

func wantArgs(ts *testscript.TestScript, neg bool, args []string, min, max int) {
	if neg || len(args) < min || len(args) > max {
		ts.Fatalf("wrong use: %q", args)
	}
}

func unquoted(ts *testscript.TestScript, text string) string {
	if i := strings.IndexByte(text, '"'); i >= 0 {
		plain, err := strconv.Unquote(text[i:])
		ts.Check(err)
		return text[:i] + plain
	}
	return text
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 2, 100)
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	for i := range args {
		args[i] = unquoted(ts, args[i])
	}
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case err == nil && want == 0:
	case errors.As(err, &exit) && exit.ExitCode() == want:
	default:
		ts.Fatalf("ended with %v, not with status %d", err, want)
	}
}

func node(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 2, 3)
	path, text := unquoted(ts, args[1]), ""
	if len(args) > 2 {
		text = unquoted(ts, args[2])
	}
	kinds := map[string]gittest.Node{
		"file": gittest.File(text), "exec": gittest.Exec(text), "private": gittest.FileMode(text, 0o600),
		"link": gittest.Link(text), "dir": gittest.Dir(), "fifo": gittest.FIFO(),
	}
	n, ok := kinds[args[0]]
	if !ok && args[0] != "gone" {
		ts.Fatalf("unknown kind %s", args[0])
	}
	ts.Check(os.RemoveAll(ts.MkAbs(path)))
	if !ok {
		return
	}
	gittest.Create(tb(ts), ts.MkAbs("."), gittest.Tree{path: n})
}

func manifest(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 3, 4)
	saved := ts.Value("manifests").(map[string]gittest.Listing)
	now := gittest.Manifest(tb(ts), ts.MkAbs(args[2]), gittest.WantTimes)
	if args[0] == "save" {
		saved[args[1]] = now
		return
	}
	was, ok := saved[args[1]]
	if !ok {
		ts.Fatalf("nothing is saved as %s", args[1])
	}
	if slices.Contains(args, "-notimes") {
		was, now = withoutTimes(was), withoutTimes(now)
	}
	if diff := gittest.Diff(was, now); diff != "" {
		ts.Fatalf("%s is not as it was (- missing, + unexpected, ! changed):\n%s", args[2], diff)
	}
}

func withoutTimes(list gittest.Listing) gittest.Listing {
	out := make(gittest.Listing, len(list))
	for path, e := range list {
		e.MTime = 0
		out[path] = e
	}
	return out
}

// lookUp finds a value in the last stdout.
func lookUp(ts *testscript.TestScript, key string) string {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	dec.UseNumber()
	var v any
	ts.Check(dec.Decode(&v))
	if dec.More() {
		ts.Fatalf("more than one JSON value")
	}
	for part := range strings.SplitSeq(key, ".") {
		v = step(ts, v, part)
	}
	switch v := v.(type) {
	case string:
		return v
	default:
		text, err := json.Marshal(v)
		ts.Check(err)
		return string(text)
	}
}

func step(ts *testscript.TestScript, v any, part string) any {
	switch v := v.(type) {
	case map[string]any:
		if inner, ok := v[part]; ok {
			return inner
		}
	case []any:
		if part == "len" {
			return len(v)
		}
		if i, err := strconv.Atoi(part); err == nil && i < len(v) {
			return v[i]
		}
	case string:
		if part == "len" {
			return len(v)
		}
	}
	ts.Fatalf("no %s in %v", part, v)
	return nil
}

func jsonHas(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 2, 2)
	if got, want := lookUp(ts, args[0]), unquoted(ts, args[1]); got != want {
		ts.Fatalf("%s is %q, not %q", args[0], got, want)
	}
}

func let(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 1, 2)
	value := strings.TrimSuffix(ts.ReadFile("stdout"), "\n")
	if len(args) > 1 {
		value = lookUp(ts, args[1])
	}
	ts.Setenv(args[0], value)
}

func nul(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 0, 100)
	var want strings.Builder
	for _, arg := range args {
		want.WriteString(unquoted(ts, arg) + "\x00")
	}
	if got := ts.ReadFile("stdout"); got != want.String() {
		ts.Fatalf("stdout is %q, not %q", got, want.String())
	}
}

func patches(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 3, 100)
	var list []cairn.Patch
	for i := 1; i+1 < len(args); i += 2 {
		list = append(list, cairn.Patch{Hash: args[i], Files: []string{unquoted(ts, args[i+1])}})
	}
	data, err := json.Marshal(list)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

func hold(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 0, 0)
	ts.Check(ts.Exec("cairn", "status", "--json"))
	db, err := odb.Open(lookUp(ts, "store"), lookUp(ts, "root"), odb.Options{Command: "a test"})
	ts.Check(err)
	unlock, err := db.Lock(context.Background())
	ts.Check(err)
	ts.Defer(func() { ts.Check(errors.Join(unlock(), db.Close())) })
}

func swarm(ts *testscript.TestScript, neg bool, args []string) {
	wantArgs(ts, neg, args, 2, 2)
	lines, err := strconv.Atoi(args[0])
	ts.Check(err)
	tracks, err := strconv.Atoi(args[1])
	ts.Check(err)
	failures := make([]error, lines)
	var all sync.WaitGroup
	for line := range lines {
		all.Go(func() {
			for n := range tracks {
				text := fmt.Sprintf("%d.%d", line, n)
				path := ts.MkAbs(fmt.Sprintf("line%d", line))
				err := os.WriteFile(path, []byte(text), 0o644)
				failures[line] = errors.Join(failures[line], err, trackOnce(ts, text))
			}
		})
	}
	all.Wait()
	ts.Check(errors.Join(failures...))
}

func trackOnce(ts *testscript.TestScript, message string) error {
	cmd := exec.Command(ts.Getenv("CAIRN"), "track", "-m", message)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"HOME=" + ts.Getenv("HOME"), "LocalAppData=" + ts.Getenv("LocalAppData"), "PATH=" + ts.Getenv("PATH")}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("track: %w: %s", err, stderr.String())
	}
	if stdout.Len() != 41 {
		return fmt.Errorf("track printed %q, not an id", stdout.String())
	}
	return nil
}

// call is how a command line ended that was run in this process.
type call struct {
	status         int
	stdout, stderr string
}

func runHere(t *testing.T, dir, home, stdin string, args ...string) call {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := newProgram(strings.NewReader(stdin), &stdout, &stderr, homeOnly(home), dir).Run(t.Context(), args)
	return call{status, stdout.String(), stderr.String()}
}

// homeOnly is an environment that knows the home directory and nothing else.
func homeOnly(home string) func(string) string {
	return func(name string) string {
		if name == "HOME" || name == "USERPROFILE" || name == "LocalAppData" {
			return home
		}
		return ""
	}
}

// homeWith is an environment of a home directory and some settings.
func homeWith(home string, set map[string]string) func(string) string {
	plain := homeOnly(home)
	return func(name string) string {
		if value, ok := set[name]; ok {
			return value
		}
		return plain(name)
	}
}

// replaceTree makes what lies in dir tree, without touching dir itself.
func replaceTree(t *testing.T, dir string, tree gittest.Tree) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	gittest.Create(t, dir, tree)
}
