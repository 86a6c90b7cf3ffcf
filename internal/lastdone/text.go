package lastdone

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

const (
	promptColumns = 60
	pathsColumns  = 60
)

// Text names a choice in words: which turn of which agent, or which operation, how long ago, and
// its first files. Paths count from the root. An undo or a redo is named as what it took back or brought back.
func (c *Choice) Text(root string, now time.Time) string {
	if c.Turn == nil {
		return fmt.Sprintf("the %s, %s (%s)", wording.Printable(c.origin.Kind), wording.Ago(now.Sub(c.done)), c.extent())
	}
	prefix := filepath.ToSlash(root) + "/"
	files := make([]string, len(c.Files))
	for i, file := range c.Files {
		files[i] = strings.TrimPrefix(file, prefix)
	}
	state := counted(files, "file")
	switch {
	case len(files) > 0:
	case c.Moved:
		state = "git"
	case len(c.Outside) > 0:
		state = counted(c.Outside, "path") + " outside"
	}
	if c.Open {
		state = "running"
	}
	return fmt.Sprintf("%s, %s (%s)", c.title(), wording.Ago(now.Sub(c.at())), state)
}

// extent says what an operation changed.
func (c *Choice) extent() string {
	var parts []string
	if len(c.Operation.Paths) > 0 || len(c.Operation.Git)+len(c.Operation.Outside) == 0 {
		parts = append(parts, counted(c.Operation.Paths, "path"))
	}
	if len(c.Operation.Git) > 0 {
		parts = append(parts, "git")
	}
	if len(c.Operation.Outside) > 0 {
		parts = append(parts, counted(c.Operation.Outside, "path")+" outside")
	}
	return strings.Join(parts, ", ")
}

// at is the time of a turn itself, also where it comes back.
func (c *Choice) at() time.Time { return c.Turn.Last() }

// title names a turn by its prompt and its agent.
func (c *Choice) title() string {
	of := wording.Printable(cmp.Or(c.Session.Agent, "session "+pathtext.Quote(c.Session.ID)))
	if prompt := wording.FirstLine(c.Turn.Prompt(), promptColumns); prompt != "" {
		return fmt.Sprintf("the turn \"%s\" of %s", prompt, of)
	}
	return fmt.Sprintf("turn %d of %s", c.Turn.Number, of)
}

// counted gives a number of paths, and the first of them.
func counted(paths []string, noun string) string {
	return wording.Count(len(paths), noun) + wording.FirstPaths(pathsColumns, slices.Sorted(slices.Values(paths)), pathtext.Quote)
}
