package interfaces

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/httpapi"
)

// relaying is a server of hooks, the environment that it shares with its callers, and what it has begun.
type relaying struct {
	hookServer
	env   []string
	begun []string
}

func newRelaying(t *testing.T, env map[string]string) *relaying {
	t.Helper()
	home := t.TempDir()
	all := map[string]string{"HOME": home, "USERPROFILE": home, "CAIRN_DATA_DIR": filepath.Join(home, "data")}
	for name, value := range env {
		all[name] = value
	}
	r := new(relaying)
	for name, value := range all {
		r.env = append(r.env, name+"="+value)
	}
	c := &commands{cli.New(strings.NewReader(""), io.Discard, io.Discard, func(name string) string { return all[name] }, t.TempDir())}
	c.Environ = func() []string { return r.env }
	c.SpawnIn = func(env, args []string) error {
		if !slices.Equal(env, r.callers()) {
			t.Errorf("%q has the environment %q", args, env)
		}
		if args[0] != "wait" { // captures what a prompt begins
			r.begun = append(r.begun, args[0])
		}
		return nil
	}
	server := httpapi.New(c.serverOptions(all["CAIRN_DATA_DIR"]))
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	r.hookServer = hookServer{c, server, all["CAIRN_DATA_DIR"], "p", "s"}
	return r
}

// callers is the environment of calls: that of the server, and what it lacks.
func (r *relaying) callers() []string { return append(slices.Clone(r.env), "SSH_AUTH_SOCK=/agent") }

// call is a call of a program in a directory.
func (r *relaying) call(program, dir, payload string) []byte {
	env := r.callers()
	fields := append([]string{"cairn hook 1", program, "s", "opencode", "", dir, "1", strconv.Itoa(len(env))}, env...)
	return []byte(strings.Join(fields, "\x00") + "\x00" + payload)
}

// TestRelayedBeginsAfterwards: after the end of a turn or a session the server begins what the hook would begin.
func TestRelayedBeginsAfterwards(t *testing.T) {
	t.Parallel()
	dir, keys := t.TempDir(), t.TempDir()
	gittest.Create(t, dir, gittest.Tree{"a": gittest.File("1")})
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	r := newRelaying(t, map[string]string{
		"CAIRN_SEAL": "true", "CAIRN_ENCRYPT": id.Recipient().String(), "CAIRN_IDENTITY": filepath.Join(keys, "key.txt"),
		"CAIRN_SYNC": filepath.Join(keys, "away.git"),
	})
	for _, event := range []struct{ name, more, want string }{
		{"prompt", `,"message":"m","prompt":"do"`, ""},
		{"before", `,"message":"m","call":"c","tool":"bash"`, ""},
		{"after", `,"message":"m","call":"c","tool":"bash"`, ""},
		{"stop", "", "push"},
		{"end", "", "seal"},
	} {
		r.begun = nil
		payload := fmt.Sprintf(`{"event":%q,"cwd":%q,"session":"s"%s}`, event.name, dir, event.more)
		answer, ok := r.answer(t.Context(), r.call("p", dir, payload))
		if got := strings.Join(r.begun, " "); !ok || !strings.Contains(string(answer), `"ok":true`) || got != event.want {
			t.Errorf("%s: %v, %s, begun %q, want %q", event.name, ok, answer, got, event.want)
		}
	}
}

// TestRelayedRefuses: a call of another program, or between programs that are not known, is not carried out, and
// neither are a command and a text that is no call.
func TestRelayedRefuses(t *testing.T) {
	t.Parallel()
	r, dir := newRelaying(t, nil), t.TempDir()
	event := fmt.Sprintf(`{"event":"stop","cwd":%q,"session":"s"}`, dir)
	for _, test := range []struct {
		why, server string
		body        []byte
		want        bool
	}{
		{"the same program", "p", r.call("p", dir, event), true},
		{"another program", "p", r.call("q", dir, event), false},
		{"unknown programs", "", r.call("", dir, event), false},
		{"a command", "p", r.call("p", dir, fmt.Sprintf(`{"event":"typed","cwd":%q,"session":"s","prompt":"cairn undo"}`, dir)), false},
		{"no call", "p", []byte("{}"), false},
	} {
		r.program = test.server
		if answer, ok := r.answer(t.Context(), test.body); ok != test.want || !ok && answer != nil {
			t.Errorf("%s: %v, %q", test.why, ok, answer)
		}
	}
}
