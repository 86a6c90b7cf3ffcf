package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/access"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/session"
)

// TestOneUnreadableSession: the answers name it, and other sessions work.
func TestOneUnreadableSession(t *testing.T) {
	t.Parallel()
	home, dir, data := t.TempDir(), t.TempDir(), t.TempDir()
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1\n")})
	run := func(want int, args ...string) call {
		t.Helper()
		c := runHere(t, dir, home, "", append([]string{"--data-dir", data}, args...)...)
		if c.status != want {
			t.Errorf("%q: %+v", args, c)
		}
		return c
	}
	turn := func(id, message, text string) {
		t.Helper()
		run(cli.ExitDone, "session", "step", "begin", id, "--message", message, "--role", "user")
		replaceTree(t, dir, gittest.Tree{"a": gittest.File(text)})
		run(cli.ExitDone, "session", "step", "end", id)
	}
	turn("bad", "m1", "2\n")
	turn("good", "m1", "3\n")
	spoil(t, dir, data, "bad") // as the newest event
	c := run(cli.ExitPartly, "session", "list", "--ids")
	if !strings.Contains(c.stdout, "good") || !strings.Contains(c.stderr, "session bad cannot be read, and is left out: ") || !strings.Contains(c.stderr, "cairn doctor --fix") {
		t.Errorf("%+v", c)
	}
	c = run(cli.ExitPartly, "session", "list", "--json")
	if !strings.Contains(c.stdout, `"good"`) || strings.Contains(c.stdout, `"bad"`) {
		t.Errorf("%+v", c)
	}
	var found []cairn.Fault
	c = run(cli.ExitFailed, "doctor", "--json")
	if err := json.Unmarshal([]byte(c.stdout), &found); err != nil || len(found) != 1 || found[0].Kind != "session" || !strings.Contains(found[0].Repair, "cairn session delete bad") {
		t.Errorf("%+v, %v", found, err)
	}
	if c := run(cli.ExitFailed, "undo"); !strings.Contains(c.stderr, "session bad cannot be read, and may have the newest turn") {
		t.Errorf("%+v", c)
	}
	run(cli.ExitPartly, "undo", "--session", "good") // the change may be that of the other
	run(cli.ExitDone, "undo", "--session", "good", "--on-conflict", "overwrite")
	turn("good", "m2", "4\n")
	run(cli.ExitDone, "undo")
	run(cli.ExitDone, "redo", "--session", "good")
	run(cli.ExitDone, "undo", "--operation")
	run(cli.ExitDone, "session", "delete", "bad")
	run(cli.ExitDone, "session", "list")
	run(cli.ExitDone, "doctor")

	run(cli.ExitDone, "session", "step", "begin", "worse", "--message", "m1", "--role", "user")
	replaceTree(t, dir, gittest.Tree{"a": gittest.File("5\n")})
	made := run(cli.ExitDone, "session", "step", "end", "worse").stdout
	spoil(t, dir, data, "worse")
	c = run(cli.ExitDone, "doctor", "--fix", "--json")
	if err := json.Unmarshal([]byte(c.stdout), &found); err != nil || len(found) != 1 || !found[0].Fixed {
		t.Errorf("%+v, %v", found, err)
	}
	run(cli.ExitDone, "session", "list")
	run(cli.ExitDone, "doctor")
	if c := run(cli.ExitDone, "log"); !strings.Contains(c.stdout, made[:12]) {
		t.Errorf("its checkpoints are gone: %+v", c)
	}
	turn("good", "m3", "6\n")
	run(cli.ExitDone, "undo")
}

// spoil adds a record to a session that cannot be read.
func spoil(t *testing.T, dir, data, id string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := cairn.Open(cairn.Options{Root: root, DataDir: data})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	err = access.Lines(repo).Update(context.Background(), func(u *operation.LineUpdate) error {
		_, err := u.Append(context.Background(), id, operation.LineAppend{Record: json.RawMessage(`"text"`), Message: "spoiled", Author: session.AuthorAgent})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
