package pager

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// lookup reads variables from a list.
func lookup(vars []string) Lookup {
	return func(name string) (string, bool) {
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
}

// TestChoose asks git which pager it takes with the same values.
func TestChoose(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: its answers cannot be compared")
	}
	values := []string{"unset", "", "cat", "less -R", "more", " "}
	for _, own := range values {
		for _, other := range values {
			var vars []string
			if own != "unset" {
				vars = append(vars, Own+"="+own)
			}
			if other != "unset" {
				vars = append(vars, "PAGER="+other)
			}
			cmd := exec.Command(git, "var", "GIT_PAGER")
			cmd.Dir = t.TempDir()
			for _, v := range vars {
				cmd.Env = append(cmd.Env, strings.Replace(v, Own, "GIT_PAGER", 1))
			}
			cmd.Env = append(cmd.Env, "HOME="+cmd.Dir, "GIT_CONFIG_NOSYSTEM=1")
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			want := strings.TrimSuffix(string(out), "\n")
			if len(vars) == 0 {
				want = Default // each build of git has its own
			}
			if got := Choose(lookup(vars)); got != want && (got != "" || want != "cat") {
				t.Errorf("%q: %q, git has %q", vars, got, want)
			}
		}
	}
}

func TestInAgent(t *testing.T) {
	t.Parallel()
	for vars, want := range map[string]bool{"PAGER=x": false, "CLAUDECODE=1": true, "CLAUDECODE=": false, "GEMINI_CLI=1": true} {
		if got := InAgent(lookup([]string{vars})); got != want {
			t.Errorf("%s: %v", vars, got)
		}
	}
}

func TestShowsLinks(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("less"); err != nil {
		t.Skipf("no less here: %v", err)
	}
	today := versionOf("less") >= firstLess
	for _, c := range []struct {
		command, vars string
		want          bool
	}{
		{"less", "", today}, {"less -S", "", today}, {"less", "LESS=FRX", today}, {"less -R", "LESS=F", today}, {"less", "LESS=F", false},
		{"more", "", false}, {"lesser", "", false}, {"no-such/less", "", false}, {"sed s/less/more/", "", false},
	} {
		if got := ShowsLinks(c.command, lookup(strings.Fields(c.vars))); got != c.want {
			t.Errorf("%s with %s: %v", c.command, c.vars, got)
		}
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ own, want string }{
		{"A=1", "A=1 LESS=FRX LV=-c"},
		{"LESS=R", "LESS=R LV=-c"},
		{"LESS= LV=", "LESS= LV="},
		{"LESSOPEN=x", "LESSOPEN=x LESS=FRX LV=-c"},
	} {
		if got := Environ(strings.Fields(c.own)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %q", c.own, got)
		}
	}
}
