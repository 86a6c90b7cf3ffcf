package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// TestSyncStarts: with the setting sync, a process that pushes is started once after a command that
// makes checkpoints and at the end of a turn, and at no other time.
func TestSyncStarts(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1")})
	plain := homeOnly(home)
	run := func(sync, extra, stdin string, args ...string) (pushes int) {
		t.Helper()
		env := func(name string) string {
			switch name {
			case "CAIRN_SYNC":
				return sync
			case extra:
				return "1"
			}
			return plain(name)
		}
		c := newProgram(strings.NewReader(stdin), io.Discard, io.Discard, env, dir)
		c.Spawn = func(args []string) error {
			if args[0] == "push" {
				pushes++
				if !slices.Contains(args, "--background") {
					t.Errorf("started %q", args)
				}
			}
			return nil
		}
		c.Run(t.Context(), args)
		return pushes
	}
	event := func(kind, more string) string {
		return fmt.Sprintf(`{"event":%q,"cwd":%q,"session":"s"%s}`, kind, dir, more)
	}
	hook := []string{"hook", "opencode"}
	away := filepath.Join(home, "away.git")
	for _, test := range []struct {
		why, sync, extra, stdin string
		args                    []string
		want                    int
	}{
		{"a track", away, "", "", []string{"track"}, 1},
		{"a track with the remembered remote", "true", "", "", []string{"track"}, 1},
		{"no setting", "", "", "", []string{"track"}, 0},
		{"no background", away, "CAIRN_NO_BACKGROUND", "", []string{"track"}, 0},
		{"a look", away, "", "", []string{"log"}, 0},
		{"a list of sessions", away, "", "", []string{"session", "list"}, 0},
		{"a failure", away, "", "", []string{"restore", "ffff"}, 0},
		{"a step", away, "", "", []string{"session", "step", "begin", "x", "--message", "m", "--step", "p"}, 1},
		{"a prompt", away, "", event("prompt", `,"message":"m","text":"do"`), hook, 0},
		{"a tool", away, "", event("before", `,"message":"m","call":"c","tool":"bash"`), hook, 0},
		{"the end of a tool", away, "", event("after", `,"message":"m","call":"c","tool":"bash"`), hook, 0},
		{"the end of a turn", away, "", event("stop", ""), hook, 1},
		{"the end of a session", away, "", event("end", ""), hook, 1},
		{"the end of a turn without the setting", "", "", event("stop", ""), hook, 0},
		{"no JSON", away, "", "no json", []string{"hook", "codex"}, 0},
	} {
		if got := run(test.sync, test.extra, test.stdin, test.args...); got != test.want {
			t.Errorf("%s: %d pushes begin, want %d", test.why, got, test.want)
		}
	}
}

// TestSignStarts: with the setting sign, a process that signs is started after a command has recorded something in a
// session.
func TestSignStarts(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1")})
	plain := homeOnly(home)
	for _, test := range []struct {
		key, args string
		want      int
	}{
		{"key", "session begin s", 1},
		{"key", "session step begin s --message m --step p", 1},
		{"", "session step end s --step p", 0},
		{"key", "session step end s --step p", 1},
		{"key", "session list", 0},
	} {
		env := func(name string) string {
			if name == "CAIRN_SIGN" && test.key != "" {
				return filepath.Join(home, test.key)
			}
			return plain(name)
		}
		c, signs := newProgram(strings.NewReader(""), io.Discard, io.Discard, env, dir), 0
		c.Spawn = func(args []string) error {
			if args[0] == "verify" {
				signs++
			}
			return nil
		}
		c.Run(t.Context(), strings.Fields(test.args))
		if signs != test.want {
			t.Errorf("%s: %d processes sign, want %d", test.args, signs, test.want)
		}
	}
}

// TestSyncDelaysNoTrack: tracks return, and get the lock at once, while the push of one of them waits
// for a remote that never answers.
func TestSyncDelaysNoTrack(t *testing.T) {
	t.Parallel()
	gittest.NewOracle(t)
	program, err := exec.LookPath("cairn")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir, data, home := t.TempDir(), t.TempDir(), t.TempDir()
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1")})
	track := func(more string) {
		t.Helper()
		cmd := exec.Command(program, "-C", dir, "track", "--lock-timeout", "0s")
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USERPROFILE=" + home, "CAIRN_DATA_DIR=" + data,
			"CAIRN_SYNC=git://" + l.Addr().String() + "/x.git", more,
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("track: %v: %s", err, out)
		}
	}
	track("CAIRN_NO_SERVER=1")
	conn, err := l.Accept() // the push has begun, and nothing answers it
	if err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	mark := flock.New(filepath.Join(cairn.StorePath(data, real), "cairn", "pushing"))
	if ok, err := mark.TryLock(); ok || err != nil {
		t.Errorf("the push holds no mark: %v, %v", ok, err)
	}
	for i := range 3 {
		gittest.Create(t, dir, gittest.Tree{fmt.Sprint("b", i): gittest.File("1")})
		track("CAIRN_NO_BACKGROUND=1")
	}
	if ok, err := mark.TryLock(); ok || err != nil {
		t.Errorf("the push did not outlast the tracks: %v, %v", ok, err)
	}
	conn.Close()
	if err := mark.Lock(); err != nil { // the process has noted the failure
		t.Error(err)
	}
	if err := mark.Close(); err != nil {
		t.Error(err)
	}
}
