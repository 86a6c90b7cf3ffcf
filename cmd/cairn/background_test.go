package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestBackground: a track starts a cleaning when it is time, once, and not where a
// setting switches that off.
func TestBackground(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1")})
	env := homeOnly(home)
	var started [][]string
	run := func(extra string, args ...string) {
		t.Helper()
		c := newProgram(nil, io.Discard, io.Discard, func(name string) string {
			if name == extra {
				return "1"
			}
			return env(name)
		}, dir)
		c.Spawn = func(args []string) error { started = append(started, args); return nil }
		if status := c.Run(t.Context(), args); status != cli.ExitDone {
			t.Fatalf("%v: status %d", args, status)
		}
	}
	run("", "track")
	if len(started) > 0 {
		t.Errorf("started %v right after the store was made", started)
	}
	stores, err := filepath.Glob(filepath.Join(home, ".local", "share", "cairn", "snapshot", "*"))
	if err != nil || len(stores) != 1 {
		t.Skip("the data directory lies elsewhere on this system")
	}
	makeDue(t, stores[0])
	run("CAIRN_NO_BACKGROUND", "track")
	run("", "log")
	if len(started) > 0 {
		t.Errorf("started %v", started)
	}
	run("", "track")
	if len(started) != 1 || !slices.Contains(started[0], "--background") {
		t.Fatalf("started %v", started)
	}
	if call := runHere(t, dir, home, "", started[0]...); call.status != cli.ExitDone || call.stdout+call.stderr != "" {
		t.Errorf("the cleaning ended with %+v", call)
	}
	started = nil
	run("", "track")
	if len(started) > 0 {
		t.Errorf("started %v right after a cleaning", started)
	}
}

// makeDue makes a store one that was cleaned long ago.
func makeDue(t *testing.T, store string) {
	t.Helper()
	note := `{"time":"2020-01-01T00:00:00Z","done":true}`
	if err := os.WriteFile(filepath.Join(store, "cairn", "cleaned"), []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestBackgroundProcess starts a real one and waits until it has done its work.
func TestBackgroundProcess(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	dir, data, home := t.TempDir(), t.TempDir(), t.TempDir()
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1")})
	run := func() {
		t.Helper()
		cmd := exec.Command(program, "-C", dir, "track")
		cmd.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "CAIRN_DATA_DIR=" + data}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("track: %v: %s", err, out)
		}
	}
	run()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	store := cairn.StorePath(data, real)
	makeDue(t, store)
	run()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		var note struct {
			Time time.Time
			Done bool
		}
		text, err := os.ReadFile(filepath.Join(store, "cairn", "cleaned"))
		if err == nil && json.Unmarshal(text, &note) == nil && note.Done && note.Time.Year() > 2020 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("no cleaning after a minute: %s", text)
		}
	}
	// It ends by giving the lock back; the test must not remove the store before.
	repo, err := cairn.Open(cairn.Options{Root: dir, DataDir: data, MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	if _, err := repo.Track(t.Context(), cairn.TrackOptions{Message: "after"}); err != nil {
		t.Fatal(err)
	}
}
