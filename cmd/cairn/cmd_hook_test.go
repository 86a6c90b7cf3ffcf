package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/relay"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// feedHook is a program for scripts: the hook of the agent that the first argument
// names, with the second on stdin. If that is a JSON object it is told of a session and
// the current directory.
func feedHook(cairn func()) {
	text := []byte(os.Args[2])
	var fields map[string]any
	if json.Unmarshal(text, &fields) == nil {
		fields["cwd"], _ = os.Getwd()
		fields["session_id"], fields["session"] = "s-"+os.Args[1], "s-"+os.Args[1]
		text, _ = json.Marshal(fields)
	}
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	go func() {
		w.Write(text)
		w.Close()
	}()
	os.Stdin, os.Args = r, []string{"cairn", "hook", os.Args[1]}
	relay.Hand() // as at the start of the program
	cairn()
}

// TestHookCountsFromDirectory: a relative --data-dir counts from the directory of -C, for the log of the hooks and for
// the store, wherever the agent works.
func TestHookCountsFromDirectory(t *testing.T) {
	t.Parallel()
	top, home := t.TempDir(), t.TempDir()
	gittest.Create(t, top, gittest.Tree{
		"start/a": gittest.File("1"), "place/project/sub/a": gittest.File("1"),
		"place/project/.git/HEAD": gittest.File("ref: refs/heads/main\n"), "place/project/.git/objects": gittest.Dir(), "place/project/.git/refs": gittest.Dir(),
	})
	start := filepath.Join(top, "start")
	global := []string{"-C", "../place/project", "--data-dir", "../d"}
	for _, event := range []string{"prompt", "before", "after"} {
		payload := fmt.Sprintf(`{"event":%q,"cwd":%q,"session":"s","message":"m","prompt":"do","call":"c","tool":"bash"}`, event, filepath.Join(top, "place", "project", "sub"))
		if c := runHere(t, start, home, payload, append(global, "hook", "opencode")...); c.status != cli.ExitDone || !strings.Contains(c.stdout, `"ok":true`) {
			t.Fatalf("%s: %+v", event, c)
		}
	}
	for _, dir := range []string{"d", "place/project/d"} {
		if _, err := os.Stat(filepath.Join(top, filepath.FromSlash(dir))); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	c := runHere(t, start, home, "", append(global, "session", "list")...)
	if _, err := os.Stat(filepath.Join(top, "place", "d", "hooks")); err != nil || !strings.Contains(c.stdout, "opencode") {
		t.Errorf("%v, %+v", err, c)
	}
	// The doctor looks for the hooks there, too.
	record := filepath.Join(top, "place", "d", "hooks", "agents", "opencode.json")
	if err := os.WriteFile(record, []byte(`{"agent":"opencode","missed":1,"failure":"full"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if c := runHere(t, start, home, "", "setup", "opencode"); c.status != cli.ExitDone {
		t.Fatal(c)
	}
	if c := runHere(t, start, home, "", append(global, "doctor")...); !strings.Contains(c.stdout, "1 step could not be captured") {
		t.Errorf("%+v", c)
	}
}
