package console

import (
	"regexp"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// TestColored holds the decision: the option, then the rules of no-color.org, then those of
// bixense.com/clicolors.
func TestColored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		choice   string
		env      map[string]string
		terminal bool
		want     bool
	}{
		{choice: Auto, terminal: true, want: true},
		{choice: Auto},
		{choice: Always, want: true},
		{choice: Never, terminal: true},
		{choice: Always, env: map[string]string{"NO_COLOR": "1", "TERM": "dumb", "CLICOLOR": "0"}, want: true},
		{choice: Never, env: map[string]string{"CLICOLOR_FORCE": "1"}, terminal: true},
		{choice: Auto, env: map[string]string{"NO_COLOR": "1"}, terminal: true},
		{choice: Auto, env: map[string]string{"NO_COLOR": "0"}, terminal: true},
		{choice: Auto, env: map[string]string{"NO_COLOR": ""}, terminal: true, want: true},
		{choice: Auto, env: map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, terminal: true},
		{choice: Auto, env: map[string]string{"CLICOLOR_FORCE": "1"}, want: true},
		{choice: Auto, env: map[string]string{"CLICOLOR_FORCE": "0"}},
		{choice: Auto, env: map[string]string{"CLICOLOR_FORCE": "1", "CLICOLOR": "0", "TERM": "dumb"}, want: true},
		{choice: Auto, env: map[string]string{"CLICOLOR": "0"}, terminal: true},
		{choice: Auto, env: map[string]string{"CLICOLOR": "1"}, terminal: true, want: true},
		{choice: Auto, env: map[string]string{"CLICOLOR": "1"}},
		{choice: Auto, env: map[string]string{"TERM": "dumb"}, terminal: true},
		{choice: Auto, env: map[string]string{"TERM": "xterm"}, terminal: true, want: true},
	} {
		env := func(name string) string { return c.env[name] }
		if got := Colored(c.choice, env, c.terminal); got != c.want {
			t.Errorf("%s with %v, terminal %v: %v", c.choice, c.env, c.terminal, got)
		}
	}
}

func TestPaint(t *testing.T) {
	t.Parallel()
	if got := Palette(true).Paint(Red, "x"); got != "\x1b[31mx\x1b[m" {
		t.Errorf("%q", got)
	}
	if Palette(true).Paint(Red, "") != "" || Palette(false).Paint(Red, "x") != "x" {
		t.Error("an escape sequence without need")
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, line, want string }{
		{"o+", "foo o", "f<oo> <o>"},
		{"x", "foo", "foo"},
		{"f*", "foof", "<f>oof"},
		{"x*", "foox", "foox"},
		{"o.", "\x1b[mfo\x07\x07", "^[[mf<o^G>^G"},
	} {
		got := Palette(true).Matches([]byte(c.line), regexp.MustCompile(c.pattern), wording.Visible)
		want := strings.NewReplacer("<", "\x1b[1;31m", ">", "\x1b[m").Replace(c.want)
		if got != want {
			t.Errorf("%s in %s: %q, want %q", c.pattern, c.line, got, want)
		}
		if plain := Palette(false).Matches([]byte(c.line), regexp.MustCompile(c.pattern), strings.ToUpper); plain != strings.ToUpper(c.line) {
			t.Errorf("%q without colours", plain)
		}
	}
}
