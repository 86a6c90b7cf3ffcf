package console

import (
	"strconv"
	"strings"
)

// terminals are values of variables by which a terminal that knows hyperlinks can be told: those of
// https://github.com/Alhadis/OSC8-Adoption that name themselves. A value of "" means any value.
// An unknown terminal might show the address as text.
var terminals = [...]struct{ name, value string }{
	{"DOMTERM", ""},
	{"KITTY_WINDOW_ID", ""},
	{"TERM", "alacritty"},
	{"TERM", "contour"},
	{"TERM", "foot"},
	{"TERM", "foot-extra"},
	{"TERM", "wezterm"},
	{"TERM", "xterm-ghostty"},
	{"TERM", "xterm-kitty"},
	{"TERM_PROGRAM", "Hyper"},
	{"TERM_PROGRAM", "WezTerm"},
	{"TERM_PROGRAM", "ghostty"},
	{"TERM_PROGRAM", "iTerm.app"},
	{"TERM_PROGRAM", "rio"},
	{"TERM_PROGRAM", "vscode"},
	{"TERM_PROGRAM", "zed"},
	{"WEZTERM_PANE", ""},
	{"WT_SESSION", ""},
}

// The first versions with hyperlinks: of VTE, the widget of many terminals, after one that crashed,
// and of Konsole.
const (
	firstVTE     = 5001
	firstKonsole = 201200
)

// Linked decides whether paths of an answer are hyperlinks. A choice of always or never wins, then
// FORCE_HYPERLINK. Otherwise a terminal has them that is known to show them, and that is not behind
// tmux or screen, which may not pass them on.
func Linked(choice string, env func(string) string, terminal bool) bool {
	force, term := env("FORCE_HYPERLINK"), env("TERM")
	switch {
	case choice == Always || choice == Never:
		return choice == Always
	case force != "":
		return force != "0"
	case !terminal, term == "dumb", env("TMUX") != "", env("STY") != "", strings.HasPrefix(term, "screen"), strings.HasPrefix(term, "tmux"):
		return false
	}
	for _, t := range &terminals {
		if value := env(t.name); value != "" && (t.value == "" || t.value == value) {
			return true
		}
	}
	return atLeast(env("VTE_VERSION"), firstVTE) || atLeast(env("KONSOLE_VERSION"), firstKonsole)
}

func atLeast(version string, first int) bool {
	n, err := strconv.Atoi(version)
	return err == nil && n >= first
}

// Link makes a text a hyperlink, by the sequence OSC 8.
func Link(url, text string) string { return linkTo(url) + text + linkTo("") }

func linkTo(url string) string { return "\x1b]8;;" + url + "\x1b\\" }

// FileURL is the address of a file by its absolute path, of any bytes. The host tells a terminal
// whether the file is on its own machine.
func FileURL(host, path string) string {
	const hex, plain = "0123456789ABCDEF", "/-._~!$&'()*+,=:@"
	var b strings.Builder
	b.WriteString("file://" + host)
	if !strings.HasPrefix(path, "/") {
		b.WriteByte('/') // C:/Users
	}
	for i := range len(path) {
		c := path[i]
		if 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}
