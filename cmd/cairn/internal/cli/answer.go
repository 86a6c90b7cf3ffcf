package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/console"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// WriteJSON prints one JSON value on a line of its own.
func (c *Program) WriteJSON(v any) error {
	enc := json.NewEncoder(c.Out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// JSONArray prints an array element by element, so that memory never holds all of it.
// An array that an error cuts short is not closed, so it is not valid JSON.
type JSONArray struct {
	c *Program
	n int
}

// NewArray begins an array of the answer.
func (c *Program) NewArray() JSONArray { return JSONArray{c: c} }

// Add prints one element.
func (a *JSONArray) Add(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	lead := ",\n"
	if a.n == 0 {
		lead = "["
	}
	a.n++
	a.c.Out.WriteString(lead)
	_, err = a.c.Out.Write(data)
	return err
}

// Close ends the array.
func (a *JSONArray) Close() error {
	if a.n == 0 {
		a.c.Out.WriteByte('[')
	}
	_, err := a.c.Out.WriteString("]\n")
	return err
}

// WritePath prints one path of a list: for people on a line of its own, with -z as
// it is and a NUL after it.
func (c *Program) WritePath(path string, null bool) error {
	if null {
		c.Out.WriteString(path)
		return c.Out.WriteByte(0)
	}
	c.Out.WriteString(c.PathLink(path, pathtext.Quote(path)))
	return c.Out.WriteByte('\n')
}

// WriteLines prints lines for people.
func (c *Program) WriteLines(lines []string) {
	for _, line := range lines {
		c.AnswerLine(line)
	}
}

// MaxLines is the number of paths of a kind that an answer lists without -v.
const MaxLines = 20

// AnswerLine prints one line of the answer.
func (c *Program) AnswerLine(line string) { c.Out.WriteString(line + "\n") }

// IDLine prints a line that begins with a short id, in the colour that git has for ids.
func (c *Program) IDLine(line string) {
	c.AnswerLine(c.Palette().Paint(console.Yellow, line[:ShortID]) + line[ShortID:])
}

// ListPaths prints a line for each path, the verb first. Without -v a long list is cut.
func (c *Program) ListPaths(verb string, paths []string) {
	lines := make([]string, len(paths))
	for i, path := range paths {
		lines[i] = verb + c.PathLink(path, pathtext.Quote(path))
	}
	c.PrintList(lines, MaxLines, c.AnswerLine)
}

// ListReasons prints a line for each path with its reason, the verb first. Without -v a long list is cut.
func (c *Program) ListReasons(verb string, list []cairn.PathReason) {
	lines := make([]string, len(list))
	for i, k := range list {
		lines[i] = verb + c.PathLink(string(k.Path), k.Path.Quoted())
		if k.Reason != "" {
			lines[i] += ": " + wording.Printable(k.Reason)
		}
	}
	c.PrintList(lines, MaxLines, c.AnswerLine)
}

// PrintList prints the first lines of a long list with say, and then the number of further
// ones. With -v it prints all.
func (c *Program) PrintList(lines []string, limit int, say func(string)) {
	more := len(lines) - limit
	if more <= 0 || c.Global.Verbose {
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

const ShortID = 12 // digits of an id in a list for people

// MaxListed is the number of skipped paths that are listed for people.
const MaxListed = 10
