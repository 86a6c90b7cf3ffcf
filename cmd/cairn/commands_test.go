package main

import (
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestMakers: the names in the table are those of the commands.
func TestMakers(t *testing.T) {
	t.Parallel()
	for _, m := range commands(testCLI()) {
		if cmd := m.Make(); cmd.Name() != m.Name {
			t.Errorf("%s makes %s", m.Name, cmd.Name())
		}
	}
}

// TestFewCommands: whatever a command line looks like, the parser finds the same with
// the commands that were made for it as with all of them.
func TestFewCommands(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"track", "-C d track -m text", "-C track log", "--root=track status", "--data-dir track hook codex",
		"-q --json diff a b", "run -- track status", "session begin --agent x", "session track", "track --help",
		"-h", "--version", "--bogus track", "--bogus=1 track", "-Cd track", "-C", "--", "-- track", "tarck", "trac",
		"unknown track", "help track", "help", "completion bash", "__complete track --", "__complete help tr",
		"restore @ track", "log -- patch", "undo redo", "-zC d track", "--lock-timeout track log",
	} {
		args := strings.Fields(line)
		few := newProgram(strings.NewReader(""), io.Discard, io.Discard, noEnv, "")
		few.AddCommands(args)
		all := testCLI()
		gotCmd, gotRest, gotErr := few.Root.Find(args)
		wantCmd, wantRest, wantErr := all.Root.Find(args)
		if gotCmd.CommandPath() != wantCmd.CommandPath() || !slices.Equal(gotRest, wantRest) || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("%s: %s %q %v, with all %s %q %v", line, gotCmd.CommandPath(), gotRest, gotErr, wantCmd.CommandPath(), wantRest, wantErr)
		}
		n := len(few.Root.Commands())
		if slices.Contains([]string{"cairn", "help", "completion"}, gotCmd.Name()) != (n == len(all.Root.Commands())) {
			t.Errorf("%s: %d commands were made", line, n)
		}
	}
}

// TestUnchangedTrackWritesNothing to the store but lock.holder.
func TestUnchangedTrackWritesNothing(t *testing.T) {
	t.Parallel()
	home, dir, data := t.TempDir(), filepath.Join(t.TempDir(), "project"), t.TempDir()
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1"), "d/b": gittest.File("2")})
	track := func() gittest.Listing {
		t.Helper()
		if c := runHere(t, dir, home, "", "--data-dir", data, "track"); c.status != cli.ExitDone {
			t.Fatal(c)
		}
		list := gittest.Manifest(t, data, gittest.WantDirTimes)
		maps.DeleteFunc(list, func(path string, _ gittest.Entry) bool { return strings.HasSuffix(path, "/cairn/lock.holder") })
		return list
	}
	// A file as young as its checkpoint is read again, and noted in the index once it is older.
	// Tracks before that write nothing either.
	old := time.Now().Add(2 * time.Second)
	before := track()
	for end := time.Now().Add(time.Minute); ; {
		late := time.Now().After(old)
		now := track()
		if maps.Equal(before, now) && (late || noted(now)) {
			break
		}
		if time.Now().After(end) {
			gittest.AssertEqual(t, data, before, now)
			t.FailNow()
		}
		before = now
	}
	for range 3 {
		gittest.AssertEqual(t, data, before, track())
	}
}

// noted reports whether a track has changed the index.
func noted(store gittest.Listing) bool {
	for path := range store {
		if strings.HasSuffix(path, "/index.delta") {
			return true
		}
	}
	return false
}

// TestStartIsCheap: every run of the program pays for what packages do before main.
// What only some commands need is made when they need it.
func TestStartIsCheap(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err, stderr.String())
	}
	line := regexp.MustCompile(`(?m)^init (\S*/cairn(?:/internal/\S+|/session)?) .* (\d+) bytes, (\d+) allocs$`)
	found := line.FindAllStringSubmatch(stderr.String(), -1)
	if len(found) < 5 {
		t.Fatalf("no trace: %s", stderr.String())
	}
	const maxBytes, maxAllocs = 4 << 10, 30
	for _, f := range found {
		bytes, _ := strconv.Atoi(f[2])
		allocs, _ := strconv.Atoi(f[3])
		if bytes > maxBytes || allocs > maxAllocs {
			t.Errorf("%s takes %d bytes in %d pieces before main, at most %d and %d are wanted", f[1], bytes, allocs, maxBytes, maxAllocs)
		}
	}
}
