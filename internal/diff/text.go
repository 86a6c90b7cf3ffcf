package diff

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/linediff"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/pathtext"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// writeFileDiff writes one file's part of a diff. A file that became a symlink, or the reverse, is
// printed as a deletion and an addition, as git does. A change of permission bits that git does not
// record has no text.
func (r *Differ) writeFileDiff(w io.Writer, c *history.Change, opt DiffOptions) (fileSides, error) {
	return r.writeRenamed(w, &FileChange{Change: *c}, opt)
}

// writeRenamed is writeFileDiff for a change that may be a rename.
func (r *Differ) writeRenamed(w io.Writer, c *FileChange, opt DiffOptions) (fileSides, error) {
	if c.From != "" || c.Letter() != "T" {
		return r.writeSection(w, c, opt)
	}
	gone, err := r.writeSection(w, &FileChange{Change: history.Change{
		Path: c.Path, Status: history.Deleted, OldMode: c.OldMode, OldID: c.OldID, OldPerm: c.OldPerm,
	}}, opt)
	if err != nil {
		return gone, err
	}
	s, err := r.writeSection(w, &FileChange{Change: history.Change{
		Path: c.Path, Status: history.Added, NewMode: c.NewMode, NewID: c.NewID, NewPerm: c.NewPerm,
	}}, opt)
	s.old, s.oldSize, s.stat.Deleted = gone.old, gone.oldSize, gone.stat.Deleted
	if s.note == "" {
		s.note = gone.note
	}
	return s, err
}

func (r *Differ) writeSection(w io.Writer, c *FileChange, opt DiffOptions) (fileSides, error) {
	s, err := r.sides(&c.Change, opt)
	if err != nil {
		return s, err
	}
	if c.OldID == c.NewID && c.OldMode == c.NewMode && c.From == "" {
		return s, nil
	}
	var body bytes.Buffer
	out := &errWriter{w: w}
	if opt.IgnoreSpace && c.OldID != c.NewID {
		r.writeBody(&errWriter{w: &body}, c, &s, opt)
		if body.Len() == 0 && c.OldMode == c.NewMode && c.From == "" {
			return s, nil // only blanks differ
		}
		writeHead(out, c, opt)
		out.Write(body.Bytes())
		return s, out.err
	}
	writeHead(out, c, opt)
	if c.OldID != c.NewID {
		r.writeBody(out, c, &s, opt)
	}
	return s, out.err
}

func writeHeader(out *errWriter, c *FileChange) {
	a, b := pathtext.Quote("a/"+cmp.Or(c.From, c.Path)), pathtext.Quote("b/"+c.Path)
	out.printf("diff --git %s %s\n", a, b)
	switch {
	case c.OldMode == 0:
		out.printf("new file mode %06o\n", c.NewMode)
	case c.NewMode == 0:
		out.printf("deleted file mode %06o\n", c.OldMode)
	case c.OldMode != c.NewMode:
		out.printf("old mode %06o\nnew mode %06o\n", c.OldMode, c.NewMode)
	}
	if c.From != "" {
		out.printf("similarity index %d%%\nrename from %s\nrename to %s\n", c.Similarity, pathtext.Quote(c.From), pathtext.Quote(c.Path))
	}
	if c.OldID == c.NewID {
		return
	}
	out.printf("index %s..%s", shortID(history.OldEntry(&c.Change)), shortID(history.NewEntry(&c.Change)))
	if c.OldMode == c.NewMode {
		out.printf(" %06o", c.OldMode)
	}
	out.printf("\n")
}

func (r *Differ) writeBody(out *errWriter, c *FileChange, s *fileSides, opt DiffOptions) {
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
	hunks := &headedWriter{errWriter: out, head: namesHead(a, b, opt)}
	context := opt.Context
	switch context {
	case settings.NoLimit:
		context = math.MaxInt32
	case NoContext:
		context = -1 // linediff's value for no context
	}
	var lines bytes.Buffer
	to := io.Writer(hunks)
	if opt.Words != NoWords || opt.Color || opt.Visible {
		to = &lines
	}
	stat, err := linediff.WriteUnified(to, s.old, s.new, linediff.Options{Context: context, IgnoreSpace: opt.IgnoreSpace})
	text := lines.Bytes()
	if opt.Visible {
		text = []byte(wording.VisibleLines(string(text)))
	}
	switch {
	case opt.Words != NoWords:
		writeWords(hunks, text, opt)
	case opt.Color:
		paintHunks(hunks, text, s.old, s.new)
	case opt.Visible:
		hunks.Write(text)
	}
	if out.err == nil {
		out.err = err
	}
	s.stat = stat
}

// writeHead is writeHeader in the colours that are wanted.
func writeHead(out *errWriter, c *FileChange, opt DiffOptions) {
	if !opt.colored() {
		writeHeader(out, c)
		return
	}
	var head strings.Builder
	writeHeader(&errWriter{w: &head}, c)
	paintHeader(out, head.String())
}

// namesHead is the two lines that name the sides of a patch.
func namesHead(a, b string, opt DiffOptions) string {
	text := "--- " + terminated(a) + "\n+++ " + terminated(b) + "\n"
	if !opt.colored() {
		return text
	}
	var painted strings.Builder
	paintHeader(&painted, text)
	return painted.String()
}

// sideNames are the names of the two sides of a patch.
func sideNames(c *FileChange) (a, b string) {
	a, b = "/dev/null", "/dev/null"
	if c.OldMode != 0 {
		a = pathtext.Quote("a/" + cmp.Or(c.From, c.Path))
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
