package manpage

import (
	"slices"
	"strings"
	"unicode"
)

// The sections of a page, in the order that man pages have.
const (
	name        = "NAME"
	synopsis    = "SYNOPSIS"
	description = "DESCRIPTION"
	commands    = "COMMANDS"
	options     = "OPTIONS"
	notes       = "NOTES"
	environment = "ENVIRONMENT"
	status      = "EXIT STATUS"
	examples    = "EXAMPLES"
	seeAlso     = "SEE ALSO"
)

var order = []string{synopsis, description, commands, options, notes, environment, status, examples, seeAlso}

// sectionOf is the section that a line of a manual begins, "" for none.
func sectionOf(line string) string {
	switch line {
	case "Usage:":
		return synopsis
	case "Options:", "Options of every command:":
		return options
	case "Environment:":
		return environment
	case "Exit status:":
		return status
	case "Examples:", "Example:":
		return examples
	}
	return ""
}

// block is some lines of a manual without an empty one.
type block struct {
	heading  string // of a group of commands
	lines    []string
	indented bool // as it is, or a list
}

// isHeading reports whether a line is the heading of a group of commands.
func isHeading(line string) bool {
	words, ended := strings.CutSuffix(line, ":")
	other := func(r rune) bool { return r != ' ' && !unicode.IsLetter(r) }
	return ended && !isIndented(line) && !strings.ContainsFunc(words, other)
}

// parse distributes a manual to sections. Text after the options or a list of commands that belongs
// to neither is a note.
func parse(text string) map[string][]block {
	sections := make(map[string][]block)
	in := description
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		lines := strings.Split(strings.Trim(part, "\n"), "\n")
		if s := sectionOf(lines[0]); s != "" {
			in, lines = s, lines[1:]
		} else if isHeading(lines[0]) && len(lines) > 1 {
			in = commands
			sections[in] = append(sections[in], block{heading: strings.TrimSuffix(lines[0], ":")})
			lines = lines[1:]
		} else if !isIndented(lines[0]) {
			in = after(in)
		}
		for len(lines) > 0 {
			n := 1
			for n < len(lines) && isIndented(lines[n]) == isIndented(lines[0]) {
				n++
			}
			sections[in] = append(sections[in], block{lines: lines[:n], indented: isIndented(lines[0])})
			lines = lines[n:]
		}
	}
	return sections
}

// after is the section of plain text that follows a section.
func after(section string) string {
	switch section {
	case synopsis, description:
		return description
	case commands, options:
		return notes
	}
	return section
}

func isIndented(line string) bool { return strings.HasPrefix(line, indent) }

const indent = "    "

// entry is one line of a list, with a term and what it means.
type entry struct {
	term string
	text []string
}

// entries reads an indented block as a list. It reports false if a line has no text for its term:
// the block is an example then.
func entries(lines []string) (list []entry, ok bool) {
	for _, line := range lines {
		line = strings.TrimPrefix(line, indent)
		if strings.HasPrefix(line, " ") && len(list) > 0 {
			last := &list[len(list)-1]
			last.text = append(last.text, strings.TrimSpace(line))
			continue
		}
		e := entry{term: line}
		if term, text, found := strings.Cut(line, "  "); found {
			e = entry{term, []string{strings.TrimSpace(text)}}
		}
		list = append(list, e)
	}
	bare := func(e entry) bool { return len(e.text) == 0 || strings.HasPrefix(e.term, "$") }
	return list, len(list) > 0 && !slices.ContainsFunc(list, bare)
}
