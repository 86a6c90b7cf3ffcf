package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// writeJSON prints one JSON value on a line of its own.
func (c *cli) writeJSON(v any) error {
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// jsonArray prints an array element by element, so that memory never holds all of it.
// An array that an error cuts short is not closed, so it is not valid JSON.
type jsonArray struct {
	c *cli
	n int
}

// newArray begins an array of the answer.
func (c *cli) newArray() jsonArray { return jsonArray{c: c} }

// add prints one element.
func (a *jsonArray) add(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	lead := ",\n"
	if a.n == 0 {
		lead = "["
	}
	a.n++
	a.c.out.WriteString(lead)
	_, err = a.c.out.Write(data)
	return err
}

func (a *jsonArray) close() error {
	if a.n == 0 {
		a.c.out.WriteByte('[')
	}
	_, err := a.c.out.WriteString("]\n")
	return err
}

// writePath prints one path of a list: for people on a line of its own, with -z as
// it is and a NUL after it.
func (c *cli) writePath(path string, null bool) error {
	if null {
		c.out.WriteString(path)
		return c.out.WriteByte(0)
	}
	c.out.WriteString(c.pathLink(path, pathtext.Quote(path)))
	return c.out.WriteByte('\n')
}

// writeLines prints lines for people.
func (c *cli) writeLines(lines []string) {
	for _, line := range lines {
		c.answerLine(line)
	}
}

// placeText is a path of this system for people. Paths of Windows have '/', as in git's
// output, because '/' needs no quoting.
func placeText(path string) string { return pathtext.Quote(filepath.ToSlash(path)) }

// maxLines is the number of paths of a kind that an answer lists without -v.
const maxLines = 20

func (c *cli) answerLine(line string) { c.out.WriteString(line + "\n") }

// idLine prints a line that begins with a short id, in the colour that git has for ids.
func (c *cli) idLine(line string) {
	c.answerLine(c.palette().Paint(console.Yellow, line[:shortID]) + line[shortID:])
}

func (c *cli) listPaths(verb string, paths []string) {
	lines := make([]string, len(paths))
	for i, path := range paths {
		lines[i] = verb + c.pathLink(path, pathtext.Quote(path))
	}
	c.cut(lines, maxLines, c.answerLine)
}

func (c *cli) listReasons(verb string, list []cairn.PathReason) {
	lines := make([]string, len(list))
	for i, k := range list {
		lines[i] = verb + c.pathLink(string(k.Path), k.Path.Quoted())
		if k.Reason != "" {
			lines[i] += ": " + wording.Printable(k.Reason)
		}
	}
	c.cut(lines, maxLines, c.answerLine)
}

// cut prints the first lines of a long list with say, and then the number of further
// ones. With -v it prints all.
func (c *cli) cut(lines []string, limit int, say func(string)) {
	more := len(lines) - limit
	if more <= 0 || c.global.verbose {
		limit, more = len(lines), 0
	}
	for _, line := range lines[:limit] {
		say(line)
	}
	if more > 0 {
		indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " "))]
		say(fmt.Sprintf("%sand %d more (-v lists them all)", indent, more))
	}
}
