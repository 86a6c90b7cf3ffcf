package console

import (
	"net/url"
	"strings"
	"testing"
)

func TestLinked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		choice, env string
		off         bool // stdout is no terminal
		want        bool
	}{
		{env: "TERM=xterm-256color"},
		{env: "TERM=xterm-kitty", want: true},
		{env: "TERM=xterm-kitty", off: true},
		{env: "TERM=xterm-kitty", choice: Never},
		{env: "TERM=dumb", choice: Always, off: true, want: true},
		{env: "TERM_PROGRAM=iTerm.app", want: true},
		{env: "TERM_PROGRAM=Apple_Terminal"},
		{env: "TERM_PROGRAM=vscode TERM=dumb"},
		{env: "WT_SESSION=1", want: true},
		{env: "KITTY_WINDOW_ID=1 TMUX=/tmp/x"},
		{env: "KITTY_WINDOW_ID=1 TERM=screen-256color"},
		{env: "VTE_VERSION=6800", want: true},
		{env: "VTE_VERSION=5000"},
		{env: "VTE_VERSION=4900"},
		{env: "VTE_VERSION=x"},
		{env: "KONSOLE_VERSION=220401", want: true},
		{env: "FORCE_HYPERLINK=1", off: true, want: true},
		{env: "FORCE_HYPERLINK=0 TERM=xterm-kitty"},
	} {
		env := func(name string) string {
			for _, v := range strings.Fields(c.env) {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value
				}
			}
			return ""
		}
		if got := Linked(c.choice, env, !c.off); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestLink(t *testing.T) {
	t.Parallel()
	if got := Link("file://h/a", "text"); got != "\x1b]8;;file://h/a\x1b\\text\x1b]8;;\x1b\\" {
		t.Errorf("%q", got)
	}
	for path, want := range map[string]string{
		"/a/b.go":                "file://h/a/b.go",
		"/ü /100%;#?":            "file://h/%C3%BC%20/100%25%3B%23%3F",
		"/\xff\x1b\\\x07\n\x9b":  "file://h/%FF%1B%5C%07%0A%9B",
		"/(a)[b]{c}|\"<>^`":      "file://h/(a)%5Bb%5D%7Bc%7D%7C%22%3C%3E%5E%60",
		"C:/Users/x":             "file://h/C:/Users/x",
		"//double//slash/./../x": "file://h//double//slash/./../x",
	} {
		if got := FileURL("h", path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

// FuzzFileURL: a parser of addresses finds the path again, and nothing in it can end the sequence.
func FuzzFileURL(f *testing.F) {
	f.Add("a b/\xff\x1b\\")
	f.Fuzz(func(t *testing.T, path string) {
		got := FileURL("host", "/"+path)
		u, err := url.Parse(got)
		if err != nil || u.Path != "/"+path || u.Host != "host" {
			t.Errorf("%q: %s is read as %q, %v", path, got, u, err)
		}
		for i := range len(got) {
			if got[i] <= ' ' || got[i] >= 0x7f || got[i] == ';' {
				t.Errorf("%q: %q", path, got)
			}
		}
	})
}
