package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
)

// TestScriptBesideServer runs the scripts of TestScript while a server runs for the data
// directory that the commands take by default: the answers are the same. It costs as much as
// TestScript, so there is a script in each gittest.Step.
func TestScriptBesideServer(t *testing.T) {
	t.Parallel()
	params := scriptParams(t)
	setup := params.Setup
	params.Setup = func(env *testscript.Env) error {
		if err := setup(env); err != nil {
			return err
		}
		return serveScript(env)
	}
	params.Files = everyScript(t, gittest.Step(), ownServer)
	params.Dir, params.WorkdirRoot = "", shortTempDir(t)
	testscript.Run(t, params)
}

// ownServer lists the scripts that begin a server themselves, or check that nothing is in
// the home: a server's socket lies there.
var ownServer = []string{"serve.txtar", "usage.txtar", "completion.txtar", "place.txtar"}

// shortTempDir is a temporary directory without the test's name in its path: the path of
// a socket has at most some 100 bytes.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // scripts may leave directories that only root can remove
	return dir
}

// everyScript lists the first of every few scripts, and leaves some out.
func everyScript(t *testing.T, few int, without []string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return slices.Contains(without, filepath.Base(f)) })
	var some []string
	for i := 0; i < len(files); i += few {
		some = append(some, files[i])
	}
	return some
}

// serveScript starts a server for a script, and stops it when the script ends.
func serveScript(env *testscript.Env) error {
	data := filepath.Join(env.Getenv("HOME"), ".local", "share", "cairn")
	if _, err := protocol.Socket(data); err != nil {
		env.T().Skip("no server can listen here:", err)
	}
	cmd := exec.Command(env.Getenv("CAIRN"), "serve")
	cmd.Env, cmd.Dir = env.Vars, env.WorkDir
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	env.Defer(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return errors.Join(fmt.Errorf("the server does not say where it listens: %w", err), cmd.Process.Kill())
	}
	return nil
}
