package review

import "github.com/seed-fb9cbc17/cairn/internal/syntax"

// role is what a piece of text is on the screen.
type role int

const (
	plain   role = iota
	heading      // of a session
	dim
	cursor   // the selected row of the pane with the keyboard
	selected // the selected row of another pane
	bar      // first and last line
	hunkHead // @@
	thisHunk // the header of the hunk that keys act on
	added    // the sign and the numbers of an added line
	deleted
	addedLine // the background of an added line
	deletedLine
	addedWord
	deletedWord
	good // accepted
	bad  // conflicts, errors
	back // taken back
	roles
)

// Colours says how colourful the terminal is.
type Colours int

// The kinds of terminals.
const (
	NoColours Colours = iota
	SixteenColours
	ManyColours // 256
)

// palette holds the parameters of the SGR sequence of each role.
type palette struct {
	roles  [roles]string
	syntax [syntax.Key + 1]string
}

// Without colours, bold, faint, underlined and reversed text has to do.
var monochrome = palette{roles: [roles]string{
	heading: "1", dim: "2", cursor: "7", selected: "1;4", bar: "7", hunkHead: "2", thisHunk: "1;7",
	addedWord: "1;4", deletedWord: "1;4", good: "1", bad: "1;7", back: "2",
}}

// sixteen uses the terminal's own colours, which its owner has chosen for its background.
var sixteen = palette{
	roles: [roles]string{
		heading: "1;36", dim: "90", cursor: "7", selected: "1;4", bar: "7", hunkHead: "36", thisHunk: "1;7;36",
		added: "32", deleted: "31", addedLine: "32", deletedLine: "31", addedWord: "7;32", deletedWord: "7;31",
		good: "32", bad: "1;31", back: "35",
	},
}

var dark = palette{
	roles: [roles]string{
		heading: "1;38;5;110", dim: "38;5;245", cursor: "1;38;5;231;48;5;25", selected: "38;5;252;48;5;238",
		bar: "38;5;252;48;5;236", hunkHead: "38;5;110", thisHunk: "1;38;5;231;48;5;25",
		added: "38;5;114", deleted: "38;5;210", addedLine: "38;5;252;48;5;22", deletedLine: "38;5;252;48;5;52",
		addedWord: "1;38;5;231;48;5;28", deletedWord: "1;38;5;231;48;5;88", good: "38;5;114", bad: "1;38;5;210", back: "38;5;176",
	},
	syntax: [...]string{
		syntax.Comment: "38;5;245", syntax.String: "38;5;150", syntax.Number: "38;5;216", syntax.Keyword: "38;5;176",
		syntax.Type: "38;5;116", syntax.Call: "38;5;117", syntax.Key: "38;5;117",
	},
}

var light = palette{
	roles: [roles]string{
		heading: "1;38;5;24", dim: "38;5;243", cursor: "1;38;5;231;48;5;25", selected: "38;5;235;48;5;253",
		bar: "38;5;235;48;5;254", hunkHead: "38;5;25", thisHunk: "1;38;5;231;48;5;25",
		added: "38;5;28", deleted: "38;5;124", addedLine: "38;5;235;48;5;194", deletedLine: "38;5;235;48;5;224",
		addedWord: "1;38;5;232;48;5;157", deletedWord: "1;38;5;232;48;5;217", good: "38;5;28", bad: "1;38;5;124", back: "38;5;90",
	},
	syntax: [...]string{
		syntax.Comment: "38;5;243", syntax.String: "38;5;22", syntax.Number: "38;5;130", syntax.Keyword: "38;5;90",
		syntax.Type: "38;5;24", syntax.Call: "38;5;25", syntax.Key: "38;5;25",
	},
}

// paletteFor is the palette for a terminal.
func paletteFor(c Colours, isDark bool) *palette {
	switch {
	case c == NoColours:
		return &monochrome
	case c == SixteenColours:
		return &sixteen
	case isDark:
		return &dark
	}
	return &light
}

// paint gives a text, which is printable, the look of a role.
func (p *palette) paint(r role, text string) string { return sgr(p.roles[r], text) }

func sgr(parameters, text string) string {
	if parameters == "" || text == "" {
		return text
	}
	return "\x1b[" + parameters + "m" + text + "\x1b[m"
}

// code is the look of a token within a line or a changed word.
func (p *palette) code(kind syntax.Kind, around role) string {
	look := p.roles[around]
	if token := p.syntax[kind]; token != "" {
		if look != "" {
			return look + ";" + token
		}
		return token
	}
	return look
}
