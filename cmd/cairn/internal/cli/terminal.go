package cli

import (
	"context"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/seed-fb9cbc17/cairn/internal/console"
)

const minColumns, defaultColumns = 40, 80

// columns is the width of lines, and whether w is a terminal that has one.
func columns(w io.Writer) (width int, terminal bool) {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return max(width, minColumns), true
		}
	}
	return defaultColumns, false
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// NewConsole returns the console of a stderr.
func NewConsole(stderr io.Writer) *console.Console {
	_, terminal := columns(stderr)
	return console.New(stderr, terminal)
}

// InterruptibleReader reads in until the context ends, even if a read of in blocks
// for ever, as one of a pipe or a terminal may. That read goes on in the background.
func InterruptibleReader(ctx context.Context, in io.Reader) io.Reader {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(w, in)
		w.CloseWithError(err) // nil means the end
	}()
	return r
}
