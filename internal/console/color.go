package console

import (
	"strings"
)

// The values of --color.
const (
	Auto   = "auto"
	Always = "always"
	Never  = "never"
)

// Colored decides whether an answer has colours. A choice of always or never wins. Then the
// first of these that applies: NO_COLOR with any text forbids colours, CLICOLOR_FORCE asks for
// them unless it is 0, a dumb terminal has none, CLICOLOR=0 forbids them, and a terminal has them.
func Colored(choice string, env func(string) string, terminal bool) bool {
	force := env("CLICOLOR_FORCE")
	switch {
	case choice == Always || choice == Never:
		return choice == Always
	case env("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case env("TERM") == "dumb" || env("CLICOLOR") == "0":
		return false
	}
	return terminal
}

// Color is an escape sequence that begins a colour.
type Color string

// The colours, those of git.
const (
	Red     Color = "\x1b[31m"
	Green   Color = "\x1b[32m"
	Yellow  Color = "\x1b[33m"
	Magenta Color = "\x1b[35m"
	Cyan    Color = "\x1b[36m"
	BoldRed Color = "\x1b[1;31m"

	BoldYellow Color = "\x1b[1;33m"

	reset = "\x1b[m"
)

// Palette paints texts, or leaves all of them as they are if it is false.
type Palette bool

// Paint returns a text in a colour. An empty text stays empty.
func (p Palette) Paint(c Color, text string) string {
	if !p || text == "" {
		return text
	}
	return string(c) + text + reset
}

// Pattern finds the matches of a line, as a regexp.Regexp does.
type Pattern interface {
	FindAllIndex(line []byte, n int) [][]int
}

// Matches paints what a pattern matches in a line, as git grep does: an empty match ends the search.
// Each piece of the line goes through shown.
func (p Palette) Matches(line []byte, pattern Pattern, shown func(string) string) string {
	if !p {
		return shown(string(line))
	}
	var out strings.Builder
	end := 0
	for _, at := range pattern.FindAllIndex(line, -1) {
		if at[0] == at[1] {
			break
		}
		out.WriteString(shown(string(line[end:at[0]])))
		out.WriteString(p.Paint(BoldRed, shown(string(line[at[0]:at[1]]))))
		end = at[1]
	}
	out.WriteString(shown(string(line[end:])))
	return out.String()
}
