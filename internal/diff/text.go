package diff

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// writeFileDiff writes one file's part of a diff. A file that became a symlink, or the reverse, is
// printed as a deletion and an addition, as git does. A change of permission bits that git does not
// record has no text.
func (r *Differ) writeFileDiff(w io.Writer, c *history.Change, opt DiffOptions) (fileSides, error) {
	if c.Letter() != "T" {
		return r.writeSection(w, c, opt)
	}
	gone, err := r.writeSection(w, &history.Change{Path: c.Path, Status: history.Deleted, OldMode: c.OldMode, OldID: c.OldID, OldPerm: c.OldPerm}, opt)
	if err != nil {
		return gone, err
	}
	s, err := r.writeSection(w, &history.Change{Path: c.Path, Status: history.Added, NewMode: c.NewMode, NewID: c.NewID, NewPerm: c.NewPerm}, opt)
	s.old, s.oldSize, s.stat.Deleted = gone.old, gone.oldSize, gone.stat.Deleted
	if s.note == "" {
		s.note = gone.note
	}
	return s, err
}

func (r *Differ) writeSection(w io.Writer, c *history.Change, opt DiffOptions) (fileSides, error) {
	s, err := r.sides(c, opt)
	if err != nil {
		return s, err
	}
	if c.OldID == c.NewID && c.OldMode == c.NewMode {
		return s, nil
	}
	out := &errWriter{w: w}
	writeHeader(out, c)
	if c.OldID != c.NewID {
		r.writeBody(out, c, &s, opt)
	}
	return s, out.err
}

func writeHeader(out *errWriter, c *history.Change) {
	a, b := pathtext.Quote("a/"+c.Path), pathtext.Quote("b/"+c.Path)
	out.printf("diff --git %s %s\n", a, b)
	switch {
	case c.OldMode == 0:
		out.printf("new file mode %06o\n", c.NewMode)
	case c.NewMode == 0:
		out.printf("deleted file mode %06o\n", c.OldMode)
	case c.OldMode != c.NewMode:
		out.printf("old mode %06o\nnew mode %06o\n", c.OldMode, c.NewMode)
	}
	if c.OldID == c.NewID {
		return
	}
	out.printf("index %s..%s", shortID(history.OldEntry(c)), shortID(history.NewEntry(c)))
	if c.OldMode == c.NewMode {
		out.printf(" %06o", c.OldMode)
	}
	out.printf("\n")
}

func (r *Differ) writeBody(out *errWriter, c *history.Change, s *fileSides, opt DiffOptions) {
	a, b := sideNames(c)
	switch {
	case s.note == noteBinary:
		out.printf("Binary files %s and %s differ\n", a, b)
		return
	case s.note == noteTooLarge:
		out.printf("Files %s and %s differ (%d and %d bytes, too large to compare by lines: the limit is %d)\n",
			a, b, s.oldSize, s.newSize, opt.limit())
		return
	}
	hunks := &headedWriter{errWriter: out, head: "--- " + terminated(a) + "\n+++ " + terminated(b) + "\n"}
	context := opt.Context
	switch context {
	case settings.NoLimit:
		context = math.MaxInt32
	case NoContext:
		context = -1 // linediff's value for no context
	}
	stat, err := linediff.WriteUnified(hunks, s.old, s.new, linediff.Options{Context: context})
	if out.err == nil {
		out.err = err
	}
	s.stat = stat
}

// sideNames are the names of the two sides of a patch.
func sideNames(c *history.Change) (a, b string) {
	a, b = "/dev/null", "/dev/null"
	if c.OldMode != 0 {
		a = pathtext.Quote("a/" + c.Path)
	}
	if c.NewMode != 0 {
		b = pathtext.Quote("b/" + c.Path)
	}
	return a, b
}

// terminated appends a tab to a name that contains a blank, as git does, so that patch programs
// find its end.
func terminated(name string) string {
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}

// shortID is the abbreviated id in index lines: seven digits, git's minimum. Unlike git, it does
// not lengthen an id that is ambiguous in the store.
func shortID(e *object.Entry) string {
	if e == nil {
		return "0000000"
	}
	return e.ID.String()[:7]
}

// errWriter keeps the first error, so that a sequence of prints is checked once.
type errWriter struct {
	w   io.Writer
	err error
}

// Write implements io.Writer. It does nothing after an error.
func (e *errWriter) Write(p []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	n, err := e.w.Write(p)
	e.err = err
	return n, err
}

func (e *errWriter) printf(format string, args ...any) { fmt.Fprintf(e, format, args...) }

// headedWriter writes head before the first bytes, so that a change without hunks (an empty file)
// has no head.
type headedWriter struct {
	*errWriter
	head string
}

func (h *headedWriter) Write(p []byte) (int, error) {
	if h.head != "" && len(p) > 0 {
		if _, err := io.WriteString(h.errWriter, h.head); err != nil {
			return 0, err
		}
		h.head = ""
	}
	return h.errWriter.Write(p)
}
