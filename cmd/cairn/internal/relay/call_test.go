package relay

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDecode: a call comes back as it was, whatever bytes it has.
func TestDecode(t *testing.T) {
	t.Parallel()
	for _, want := range []Call{
		{Program: "1 2", Agent: "codex", Dir: "/", Payload: []byte{}},
		{Program: "1 2", Space: "pid:[1]", Agent: "a\xff", DataDir: "/d é", Dir: "/d\nx", Parent: 7, Env: []string{"A=1", "B=", "=C"}, Payload: []byte("{\x00}\n\xff")},
	} {
		got, err := Decode(append(want.head(), want.Payload...))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("(- wanted, + got)\n%s", diff)
		}
	}
}

// TestDecodeRefuses: a torn call and a foreign text are no calls.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	head := (&Call{Program: "p", Agent: "a", Parent: 1, Env: []string{"A=1"}}).head()
	for n := range head {
		if c, err := Decode(head[:n]); err == nil {
			t.Errorf("%q is %+v", head[:n], c)
		}
	}
	for _, text := range []string{
		"another 1\x00", form + "\x00p\x00\x00a\x00\x00\x00one\x000\x00{}", form + "\x00p\x00\x00a\x00\x00\x001\x00-1\x00{}", form + "\x00p\x00\x00a\x00\x00\x001\x0099999999\x00{}",
	} {
		if c, err := Decode([]byte(text)); err == nil {
			t.Errorf("%q is %+v", text, c)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("{}"))
	f.Add((&Call{Program: "p", Agent: "a", Parent: 1, Env: []string{"A=1"}, Payload: []byte("{}")}).head())
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Decode(data)
		if err != nil {
			return
		}
		again, err := Decode(append(c.head(), c.Payload...))
		if diff := cmp.Diff(c, again); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}

func TestGetenv(t *testing.T) {
	t.Parallel()
	c := &Call{Env: []string{"A=1", "AB=2", "A=3=4"}}
	for name, want := range map[string]string{"A": "3=4", "AB": "2", "B": ""} {
		if got := c.Getenv(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
}

// TestWanted: only the command lines that cairn setup writes go to a server.
func TestWanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args           []string
		dataDir, agent string
	}{
		{[]string{"hook", "codex"}, "", "codex"},
		{[]string{"--data-dir", "/d", "hook", "pi"}, "/d", "pi"},
		{[]string{"-C", "/r", "--data-dir", "/d", "hook", "pi"}, "/d", "pi"},
		{[]string{"-C", "hook", "hook", "pi"}, "", "pi"},
		{args: []string{"hook"}},
		{args: []string{"hook", "-h"}},
		{args: []string{"hook", "a", "b"}},
		{args: []string{"--no-server", "hook", "codex"}},
		{args: []string{"--data-dir=/d", "hook", "codex"}},
		{args: []string{"track", "hook"}},
		{args: []string{"-C", "hook", "codex"}},
	} {
		if dataDir, agent, ok := wanted(c.args); dataDir != c.dataDir || agent != c.agent || ok != (c.agent != "") {
			t.Errorf("%q: %q, %q, %v", c.args, dataDir, agent, ok)
		}
	}
}

func TestSocket(t *testing.T) {
	t.Parallel()
	home := "HOME=/home/dev"
	for _, c := range []struct {
		goos, dataDir string
		env           []string
		want          string
	}{
		{"linux", "", []string{home}, "/home/dev/.local/share/cairn/serve/sock"},
		{"darwin", "", []string{home}, "/home/dev/Library/Application Support/cairn/serve/sock"},
		{"linux", "", []string{home, "XDG_DATA_HOME=/x"}, "/x/cairn/serve/sock"},
		{"linux", "", []string{home, "XDG_DATA_HOME=x"}, "/home/dev/.local/share/cairn/serve/sock"},
		{"linux", "", []string{home, "XDG_DATA_HOME=/x", "CAIRN_DATA_DIR=/y"}, "/y/serve/sock"},
		{"linux", "/d", []string{home, "CAIRN_DATA_DIR=/y"}, "/d/serve/sock"},
		{"linux", "d", []string{home}, ""},
		{"linux", "", []string{home, "CAIRN_DATA_DIR=y"}, ""},
		{"linux", "", nil, ""},
		{"linux", "/d", []string{home, "CAIRN_NO_SERVER=1"}, ""},
		{"linux", "/d", []string{home, "CAIRN_HOOK_DEADLINE=1s"}, ""},
	} {
		if got := socket(c.goos, c.dataDir, (&Call{Env: c.env}).Getenv); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
