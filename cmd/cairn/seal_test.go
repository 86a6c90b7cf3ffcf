package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/realpath"
)

// newKey returns a recipient, and the file with its key.
func newKey(t *testing.T) (recipient, file string) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(file, []byte(id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return id.Recipient().String(), file
}

// TestSealStarts: with the setting seal, a process that seals is started once after a command that opened the store and
// at the end of a session, instead of processes that clean and push, and at no other time.
func TestSealStarts(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), realDir(t)
	data := filepath.Join(home, "data")
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1")})
	recipient, key := newKey(t)
	run := func(extra, stdin string, args ...string) (status int, started []string) {
		t.Helper()
		set := map[string]string{
			"CAIRN_SEAL": "true", "CAIRN_ENCRYPT": recipient, "CAIRN_IDENTITY": key,
			"CAIRN_SYNC": filepath.Join(home, "away.git"), "CAIRN_DATA_DIR": data, extra: "1",
		}
		if extra == "CAIRN_SEAL" {
			set[extra] = "false"
		}
		c := newProgram(strings.NewReader(stdin), io.Discard, io.Discard, homeWith(home, set), dir)
		c.Spawn = func(args []string) error {
			if args[0] != "wait" { // captures what a prompt begins
				started = append(started, args[0])
			}
			return nil
		}
		return c.Run(t.Context(), args), started
	}
	event := func(kind, more string) string {
		return fmt.Sprintf(`{"event":%q,"cwd":%q,"session":"s"%s}`, kind, dir, more)
	}
	hook := []string{"hook", "opencode"}
	if status, _ := run("", "", "track"); status != 0 {
		t.Fatalf("track: status %d", status)
	}
	for _, test := range []struct {
		why, extra, stdin string
		args              []string
		sealed            bool // before
		want              string
	}{
		{"a look at a sealed store", "", "", []string{"log"}, true, "seal"},
		{"a look at an open one", "", "", []string{"log"}, false, ""},
		{"a track of a sealed one", "", "", []string{"track"}, true, "seal"},
		{"a track of an open one", "", "", []string{"track"}, false, "push"},
		{"a prompt", "", event("prompt", `,"message":"m","text":"do"`), hook, true, ""},
		{"a tool", "", event("before", `,"message":"m","call":"c","tool":"bash"`), hook, true, ""},
		{"the end of a turn", "", event("stop", ""), hook, true, "push"},
		{"the end of a session", "", event("end", ""), hook, false, "seal"},
		{"the end of a session without background", "CAIRN_NO_BACKGROUND", event("end", ""), hook, false, ""},
		{"the end of a session without the setting", "CAIRN_SEAL", event("end", ""), hook, false, "push"},
		{"a list of sessions", "", "", []string{"session", "list"}, true, "seal"},
		{"the beginning of a session", "", "", []string{"session", "begin", "t"}, true, "push"},
		{"unseal", "", "", []string{"unseal"}, true, ""},
	} {
		if test.sealed {
			if status, _ := run("", "", "seal"); status != 0 {
				t.Fatalf("seal: status %d", status)
			}
		}
		if status, got := run(test.extra, test.stdin, test.args...); status != 0 || strings.Join(got, " ") != test.want {
			t.Errorf("%s: status %d, started %q, want %q", test.why, status, got, test.want)
		}
	}
	if status, _ := run("", "", "seal"); status != 0 {
		t.Fatalf("seal: status %d", status)
	}
	if status, got := run("", "", "cat", strings.Repeat("0", 40), "a"); status != 4 || strings.Join(got, " ") != "seal" {
		t.Errorf("a look at nothing: status %d, started %q", status, got)
	}
	for _, args := range [][]string{{"gc", "--background"}, {"push", "--background"}, {"verify", "--background"}} {
		if status, _ := run("", "", "seal"); status != 0 {
			t.Fatalf("seal: status %d", status)
		}
		if _, got := run("", "", args...); len(got) > 0 || !cairn.StoreSealed(data, dir) {
			t.Errorf("%s opens a sealed store, and starts %q", args, got)
		}
	}
}

// TestSealStartsBesideASealing: a store that another process seals while a command is on its way to it is opened by that
// command, and left to be sealed again.
func TestSealStartsBesideASealing(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), realDir(t)
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1")})
	recipient, key := newKey(t)
	set := map[string]string{
		"CAIRN_SEAL": "true", "CAIRN_ENCRYPT": recipient, "CAIRN_IDENTITY": key, "CAIRN_DATA_DIR": filepath.Join(home, "data"),
	}
	settings := homeWith(home, set)
	run := func(onTheWay func(), args ...string) (started []string) {
		t.Helper()
		var errs strings.Builder
		env := func(name string) string {
			if name == "CAIRN_NO_SERVER" { // is asked for between the settings and the store
				onTheWay()
			}
			return settings(name)
		}
		c := newProgram(strings.NewReader(""), io.Discard, &errs, env, dir)
		c.Spawn = func(args []string) error {
			started = append(started, args[0])
			return nil
		}
		if status := c.Run(t.Context(), args); status != 0 {
			t.Fatalf("%s: status %d, %s", args, status, errs.String())
		}
		return started
	}
	nothing := func() {}
	run(nothing, "track")
	sealed := false
	started := run(func() {
		if !sealed {
			sealed = true
			run(nothing, "seal")
		}
	}, "track")
	if cairn.StoreSealed(set["CAIRN_DATA_DIR"], dir) || !sealed || strings.Join(started, " ") != "seal" {
		t.Errorf("sealed on the way: %v, started %q, want seal", sealed, started)
	}
}

// TestDoctorTriesTheKeys: settings with which seal = true leaves the store open are a finding. The key of a store that
// is sealed may be elsewhere.
func TestDoctorTriesTheKeys(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), realDir(t)
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1")})
	recipient, key := newKey(t)
	other, _ := newKey(t)
	unreadable := filepath.Join(t.TempDir(), "nonsense")
	if err := os.WriteFile(unreadable, []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(encrypt, identity, seal string, args ...string) (status int, answer string) {
		t.Helper()
		set := map[string]string{"CAIRN_SEAL": seal, "CAIRN_ENCRYPT": encrypt, "CAIRN_IDENTITY": identity, "CAIRN_DATA_DIR": filepath.Join(home, "data")}
		var out strings.Builder
		c := newProgram(strings.NewReader(""), &out, &out, homeWith(home, set), dir)
		return c.Run(t.Context(), args), out.String()
	}
	if status, answer := run(recipient, key, "true", "track"); status != 0 {
		t.Fatal(answer)
	}
	for _, test := range []struct {
		why, encrypt, identity, seal, want string
	}{
		{"all is well", recipient, key, "true", "nothing is wrong"},
		{"one of two keys", recipient + "," + other, key, "true", "nothing is wrong"},
		{"no setting", other, key, "false", "nothing is wrong"},
		{"no recipient", "", key, "true", "stays open: the setting encrypt names no recipient"},
		{"none", cairn.EncryptNone, key, "true", "stays open: the setting encrypt names no recipient"},
		{"no identity", recipient, "", "true", "stays open: the setting identity names no key"},
		{"no file", recipient, key + ".away", "true", "stays open: identity: "},
		{"no key", recipient, unreadable, "true", "stays open: unusable identity"},
		{"another key", other, key, "true", "stays open: the key that identity names"},
	} {
		status, answer := run(test.encrypt, test.identity, test.seal, "doctor")
		if !strings.Contains(answer, test.want) || (status != 0) != strings.Contains(test.want, "open") {
			t.Errorf("%s: status %d, %s", test.why, status, answer)
		}
	}
	if status, answer := run(recipient, key, "true", "seal"); status != 0 {
		t.Fatal(answer)
	}
	if _, answer := run(recipient, key+".away", "true", "doctor"); !strings.Contains(answer, "sealed: ") || strings.Contains(answer, "configuration") {
		t.Errorf("a sealed store: %s", answer)
	}
}

// TestSealUnderAReader: seal does not wait for a process that has the store open, and names no option that would.
func TestSealUnderAReader(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), realDir(t)
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1")})
	recipient, key := newKey(t)
	set := map[string]string{"CAIRN_SEAL": "true", "CAIRN_DATA_DIR": filepath.Join(home, "data")}
	run := func(args ...string) (int, string) {
		var out strings.Builder
		c := newProgram(strings.NewReader(""), &out, &out, homeWith(home, set), dir)
		return c.Run(t.Context(), args), out.String()
	}
	if status, answer := run("track"); status != 0 {
		t.Fatal(answer)
	}
	reader, err := cairn.Open(cairn.Options{Root: dir, DataDir: set["CAIRN_DATA_DIR"], Unseal: true})
	if err != nil {
		t.Fatal(err)
	}
	status, answer := run("seal", "--encrypt", recipient, "--identity", key)
	if status != 1 || !strings.Contains(answer, "try again when it has ended") || strings.Contains(answer, "lock-timeout") || !strings.Contains(answer, "hint: cairn serve") {
		t.Errorf("status %d, %s", status, answer)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if status, answer := run("seal", "--encrypt", recipient, "--identity", key); status != 0 {
		t.Error(answer)
	}
}

// TestSealStartsForOthers: a command that opens the sealed store of another directory leaves that to be sealed, too.
func TestSealStartsForOthers(t *testing.T) {
	t.Parallel()
	home, dirs := t.TempDir(), []string{realDir(t), realDir(t)}
	recipient, key := newKey(t)
	set := map[string]string{"CAIRN_SEAL": "true", "CAIRN_ENCRYPT": recipient, "CAIRN_IDENTITY": key}
	var started []string
	run := func(dir string, args ...string) {
		t.Helper()
		var errs strings.Builder
		c := newProgram(strings.NewReader(""), io.Discard, &errs, homeWith(home, set), dir)
		c.Spawn = func(args []string) error {
			if args[0] == "seal" {
				started = append(started, args[slices.Index(args, "--root")+1])
			}
			return nil
		}
		if status := c.Run(t.Context(), args); status != 0 {
			t.Fatalf("%s: status %d, %s", args, status, errs.String())
		}
	}
	for _, dir := range dirs {
		gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1")})
		run(dir, "track")
		run(dir, "seal")
	}
	run(dirs[0], "compare", dirs[1])
	slices.Sort(started)
	slices.Sort(dirs)
	if !slices.Equal(started, dirs) {
		t.Errorf("started for %q, want %q", started, dirs)
	}
}

// TestAdoptSealed: the sealed store of a project that was moved is adopted, and sealed again. Without the setting the
// answer names the command that opens it.
func TestAdoptSealed(t *testing.T) {
	t.Parallel()
	home, parent := t.TempDir(), realDir(t)
	old, dir := filepath.Join(parent, "old"), filepath.Join(parent, "new one")
	recipient, key := newKey(t)
	set := map[string]string{"CAIRN_SEAL": "true", "CAIRN_ENCRYPT": recipient, "CAIRN_IDENTITY": key}
	var started []string
	run := func(dir string, want int, args ...string) string {
		t.Helper()
		var errs strings.Builder
		c := newProgram(strings.NewReader(""), io.Discard, &errs, homeWith(home, set), dir)
		c.Spawn = func(args []string) error {
			started = append(started, args[0]+" "+args[slices.Index(args, "--root")+1])
			return nil
		}
		if status := c.Run(t.Context(), args); status != want {
			t.Fatalf("%s: status %d, %s", args, status, errs.String())
		}
		return errs.String()
	}
	gittest.Create(t, old, gittest.Tree{"a": gittest.File("1")})
	run(old, 0, "track")
	run(old, 0, "seal")
	if err := os.Rename(old, dir); err != nil {
		t.Fatal(err)
	}
	set["CAIRN_SEAL"] = "false"
	if text := run(dir, 7, "adopt", old); !strings.Contains(text, "cairn --root "+old+" unseal") {
		t.Errorf("the answer is %q", text)
	}
	set["CAIRN_SEAL"], started = "true", nil
	run(dir, 0, "adopt", old)
	if want := []string{"seal " + dir}; !slices.Equal(started, want) {
		t.Errorf("started %q, want %q", started, want)
	}
	run(dir, 0, "cat", "@", "a")
}

func realDir(t *testing.T) string {
	t.Helper()
	dir, err := realpath.Of(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSealAfterTickets: what a session has begun in the background is done before its store is sealed. A process that
// comes later for it leaves the store sealed.
func TestSealAfterTickets(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1")})
	recipient, key := newKey(t)
	env := homeWith(home, map[string]string{"CAIRN_SEAL": "true", "CAIRN_ENCRYPT": recipient, "CAIRN_IDENTITY": key, "CAIRN_DATA_DIR": filepath.Join(home, "data")})
	run := func(stdin string, args ...string) (out string, begun [][]string) {
		t.Helper()
		var answer strings.Builder
		c := newProgram(strings.NewReader(stdin), &answer, io.Discard, env, dir)
		c.Spawn = func(args []string) error {
			begun = append(begun, args)
			return nil
		}
		if status := c.Run(t.Context(), args); status != 0 {
			t.Fatalf("%q: status %d, %s", args, status, answer.String())
		}
		return answer.String(), begun
	}
	run("", "track")
	_, wait := run(fmt.Sprintf(`{"event":"prompt","cwd":%q,"session":"s","message":"m","prompt":"a question"}`, dir), "hook", "opencode")
	_, seal := run(fmt.Sprintf(`{"event":"end","cwd":%q,"session":"s"}`, dir), "hook", "opencode")
	if len(wait) != 1 || wait[0][0] != "wait" || len(seal) != 1 || seal[0][0] != "seal" {
		t.Fatalf("begun: %q, %q", wait, seal)
	}
	run("", seal[0]...)
	run("", wait[0]...)
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !cairn.StoreSealed(env("CAIRN_DATA_DIR"), root) {
		t.Error("the store is open after its session")
	}
	if out, _ := run("", "--json", "session", "show", "s"); !strings.Contains(out, `"prompt":"a question"`) {
		t.Error(out)
	}
}
