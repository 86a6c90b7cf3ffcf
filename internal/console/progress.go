package console

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// Progress is shown once a command has run for progressDelay, and at most once in
// progressPause.
const (
	progressDelay = 500 * time.Millisecond
	progressPause = 100 * time.Millisecond
)

// Progress returns the function that draws the progress line, nil where none is wanted:
// on no terminal, on a dumb one, and when quiet.
func (c *Console) Progress(dumb bool) func(cairn.Progress) {
	if !c.terminal || c.Quiet || dumb {
		return nil
	}
	return c.progress
}

func (c *Console) progress(p cairn.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	if p.Phase != c.phase {
		c.phase, c.since, c.drawn = p.Phase, now, time.Time{}
	}
	if c.holding || now.Sub(c.begun) < progressDelay || now.Sub(c.drawn) < progressPause {
		return
	}
	c.drawn = now
	text := "cairn: " + progressText(p, now.Sub(c.since))
	c.overwrite(text)
	c.width = len(text)
}

// doing says what a phase does, with what, and what becomes of the bytes.
var doing = map[string]struct{ text, things, bytes string }{
	"scan":     {"looking", " files", " read"},
	"apply":    {"writing", " paths", " written"},
	"mark":     {"marking", " objects", ""},
	"copy":     {"copying", " objects", " written"},
	"check":    {"reading", " objects", ""},
	"count":    {"counting", " objects", ""},
	"compress": {"compressing", " objects", ""},
	"write":    {"writing", " objects", ""},
	"receive":  {"receiving", " objects", ""},
	"resolve":  {"resolving", " objects", ""},
}

// rateAfter is how long a phase works before its rate is told.
const rateAfter = time.Second

// progressText says how far a phase has come, of what, and how fast: in bytes, where it counts
// them.
func progressText(p cairn.Progress, took time.Duration) string {
	d := doing[p.Phase]
	text := fmt.Sprintf("%s, %d", d.text, p.Files)
	if p.Total >= p.Files && p.Total > 0 {
		text += fmt.Sprintf(" of %d%s (%d %%)", p.Total, d.things, int64(p.Files)*100/int64(p.Total))
	} else {
		text += d.things
	}
	if p.Bytes > 0 {
		text += ", " + wording.Size(p.Bytes) + d.bytes
	}
	switch seconds := took.Seconds(); {
	case took < rateAfter:
	case p.Bytes > 0:
		text += ", " + wording.Size(int64(float64(p.Bytes)/seconds)) + "/s"
	default:
		text += fmt.Sprintf(", %.0f/s", float64(p.Files)/seconds)
	}
	return text
}

// Clear removes the progress line.
func (c *Console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erase()
}

// overwrite puts text in the place of the progress line. A console of Windows may not
// know the escape sequence, and gets blanks.
func (c *Console) overwrite(text string) {
	if runtime.GOOS == "windows" {
		fmt.Fprintf(c.w, "\r%-*s", c.width, text)
		return
	}
	io.WriteString(c.w, "\r"+text+eraseLine)
}

// eraseLine clears a terminal from the cursor to the end of the line. Blanks would
// stay behind in what is copied from the screen. Progress is shown on terminals only,
// and on no dumb one.
const eraseLine = "\x1b[K"

func (c *Console) erase() {
	if c.width > 0 {
		c.overwrite("")
		io.WriteString(c.w, "\r")
		c.width = 0
	}
}
