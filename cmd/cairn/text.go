package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
	"github.com/seed-fb9cbc17/cairn/session"
)

const (
	lineWidth = 100 // characters of a line in a list, unless an id needs more
	indent    = "    "
)

// writeDid prints what a step did: its tools, and the first files that it changed.
func (c *cli) writeDid(w *session.Work, indent string) {
	calls := make([]string, len(w.Calls))
	for i, call := range w.Calls {
		calls[i] = call.String()
	}
	paths := make([]string, len(w.Paths))
	for i, path := range w.Paths {
		paths[i] = cairn.QuotePath(path)
	}
	for _, line := range wording.Did(lineWidth-len(indent), calls, paths, w.Changed) {
		c.out.WriteString(indent + line + "\n")
	}
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

// printable replaces control characters by C's escapes.
func printable(text string) string {
	if !strings.ContainsFunc(text, isControl) {
		return text
	}
	const letters = "abtnvfr"
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '\a' && c <= '\r':
			b.WriteByte('\\')
			b.WriteByte(letters[c-'\a'])
		case isControl(rune(c)):
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// placeText is where something lies on this system, for people. The paths of Windows are
// shown as git shows them there: with '/', which needs no quoting.
func placeText(path string) string { return cairn.QuotePath(filepath.ToSlash(path)) }

// writePath prints one path of a list: for people on a line of its own, with -z as
// it is and a NUL after it.
func (c *cli) writePath(path string, null bool) error {
	if null {
		c.out.WriteString(path)
		return c.out.WriteByte(0)
	}
	c.out.WriteString(cairn.QuotePath(path))
	return c.out.WriteByte('\n')
}

// ageText says how long ago something was, in its largest whole unit.
func ageText(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / u.unit); n > 0 {
			return wording.Count(n, u.name) + " ago"
		}
	}
	return "just now"
}
