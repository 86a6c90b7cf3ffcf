// Package console writes what a command says beside its answer: remarks, warnings and
// errors, the log of the library, and a line of progress on a terminal.
package console

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Console is stderr: remarks, warnings, errors, and on a terminal one line that
// shows how far a long command has come. Nothing is coloured, whatever NO_COLOR
// says. The one escape sequence clears that line. While a pager has the terminal, nothing is said.
// Its methods may be called by several goroutines.
type Console struct {
	Quiet bool // no remarks and no progress; warnings and errors stay
	Now   func() time.Time

	mu       sync.Mutex
	w        io.Writer
	terminal bool

	holding bool
	held    bytes.Buffer // texts to print when the pager has ended

	begun, drawn time.Time
	width        int       // of the progress line that is to be seen
	phase        string    // that it shows
	since        time.Time // the beginning of that phase
}

// New returns a console that writes to w. Progress is drawn only if w is a terminal.
func New(w io.Writer, terminal bool) *Console {
	return &Console{w: w, Now: time.Now, begun: time.Now(), terminal: terminal}
}

// Writer is the stream behind the console.
func (c *Console) Writer() io.Writer { return c.w }

// Questions is the stream for questions, and for what they are about. The progress line gives way.
func (c *Console) Questions() io.Writer { return &questions{c} }

type questions struct{ c *Console }

// Write implements io.Writer.
func (q *questions) Write(text []byte) (int, error) {
	q.c.Clear()
	return q.c.w.Write(text)
}

// Remark prints a line that -q leaves out.
func (c *Console) Remark(format string, args ...any) {
	if !c.Quiet {
		c.Complain(fmt.Sprintf(format, args...))
	}
}

// Complain prints a line that -q does not leave out. Control characters, of a file's
// name for instance, are escaped: they could change the terminal.
func (c *Console) Complain(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.say(fmt.Sprintf("cairn: %s\n", wording.Printable(text)))
}

// say prints a text, or keeps it while the console is held.
func (c *Console) say(text string) {
	if c.holding {
		c.held.WriteString(text)
		return
	}
	c.erase()
	io.WriteString(c.w, text)
}

// Hold keeps everything back from now on, because another program has the terminal.
func (c *Console) Hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erase()
	c.holding = true
}

// Release prints the texts that Hold kept back.
func (c *Console) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = false
	c.held.WriteTo(c.w)
}

// Repeat prints text that another console was given. It is escaped already.
func (c *Console) Repeat(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.say(text)
}

// Logger gives the library a voice: its warnings, and its news of what it finished
// for a command that died.
func (c *Console) Logger() *slog.Logger { return slog.New(&notices{console: c}) }

// notices is a slog.Handler that prints a record as one remark or warning.
type notices struct {
	console *Console
	attrs   []slog.Attr
	group   string
}

func (n *notices) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || level >= slog.LevelInfo && !n.console.Quiet
}

func (n *notices) Handle(_ context.Context, r slog.Record) error {
	var details []string
	cause := ""
	add := func(a slog.Attr) bool {
		if a.Key == "error" {
			cause = ": " + a.Value.String()
		} else {
			details = append(details, a.Key+" "+a.Value.String())
		}
		return true
	}
	for _, a := range n.attrs {
		add(a)
	}
	r.Attrs(func(a slog.Attr) bool { return add(n.grouped(a)) })
	text := r.Message
	if r.Level >= slog.LevelWarn {
		text = "warning: " + text
	}
	if len(details) > 0 {
		text += " (" + strings.Join(details, ", ") + ")"
	}
	n.console.Complain(text + cause)
	return nil
}

func (n *notices) grouped(a slog.Attr) slog.Attr {
	a.Key = n.group + a.Key
	return a
}

func (n *notices) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := *n
	out.attrs = append([]slog.Attr{}, n.attrs...)
	for _, a := range attrs {
		out.attrs = append(out.attrs, n.grouped(a))
	}
	return &out
}

func (n *notices) WithGroup(name string) slog.Handler {
	out := *n
	if name != "" {
		out.group += name + "."
	}
	return &out
}
