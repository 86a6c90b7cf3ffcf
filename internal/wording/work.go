package wording

import (
	"cmp"
	"strconv"
	"strings"
)

// FirstPaths lists the first of some paths on a line of at most width columns, as Paths does, after a
// colon. quote makes a path fit for a line.
func FirstPaths(width int, paths []string, quote func(string) string) string {
	var first []string
	for _, path := range paths[:min(len(paths), shownPaths)] {
		first = append(first, quote(path))
	}
	if list := Paths(width, first, len(paths)); list != "" {
		return ": " + list
	}
	return ""
}

const shownPaths = 3 // of many

// Paths lists the first of total paths on a line of at most width characters, as far as
// there is room: "a, b and 3 more". A path that is too long for the line loses its beginning.
func Paths(width int, paths []string, total int) string {
	if len(paths) == 0 {
		return ""
	}
	for n := len(paths); n > 1; n-- {
		if line := listed(paths[:n], total); Columns(line) <= width {
			return line
		}
	}
	rest := listed([]string{""}, total)
	return tail(FirstLine(paths[0], len(paths[0])+1), max(1, width-Columns(rest))) + rest
}

func listed(paths []string, total int) string {
	line := FirstLine(strings.Join(paths, ", "), 1<<20)
	if more := total - len(paths); more > 0 {
		line += " and " + strconv.Itoa(more) + " more"
	}
	return line
}

// Heading says who made a checkpoint and what for, in place of its author and its message.
// byAgent: it holds what a step of an agent changed. agent and prompt are of the work that the
// checkpoint belongs to, "" if they are not known.
func Heading(byAgent bool, author, message, agent, prompt string) (who, what string) {
	switch {
	case byAgent:
		return cmp.Or(agent, author), cmp.Or(prompt, message)
	case prompt == "":
		return author, message
	case strings.HasPrefix(message, "revert"):
		return author, "revert to before: " + prompt
	}
	return author, "before: " + prompt
}

// Did says on one line of at most width characters, or on two, what a step did: the calls of
// its tools, and the first of total paths that it changed.
func Did(width int, calls, paths []string, total int) []string {
	lines := make([]string, len(calls))
	for i, call := range calls {
		lines[i] = FirstLine(call, width)
	}
	tools := FirstLine(strings.Join(lines, "; "), width)
	files := Paths(width, paths, total)
	switch {
	case tools == "" && files == "":
		return nil
	case tools == "":
		return []string{files}
	case files == "":
		return []string{tools}
	}
	if one := tools + "  (" + files + ")"; Columns(one) <= width {
		return []string{one}
	}
	return []string{tools, files}
}

// NoPrompt stands in a list for a prompt that is empty, or is not recorded.
const NoPrompt = "(no prompt recorded)"

// ByModel puts the name of a model before the calls that it made, "" for an unknown one.
func ByModel(model string, calls []string) []string {
	switch {
	case model == "":
		return calls
	case len(calls) == 0:
		return []string{"[" + model + "]"}
	}
	return append([]string{"[" + model + "] " + calls[0]}, calls[1:]...)
}

// Wrap joins pieces with ", ", and begins a further line where the next piece would make
// one longer than width characters. No piece is cut.
func Wrap(width int, pieces ...string) []string {
	var lines []string
	for _, piece := range pieces {
		last := len(lines) - 1
		switch {
		case piece == "":
		case last >= 0 && Columns(lines[last])+2+Columns(piece) <= width:
			lines[last] += ", " + piece
		default:
			lines = append(lines, piece)
		}
	}
	return lines
}
