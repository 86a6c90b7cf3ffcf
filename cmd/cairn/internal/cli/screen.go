package cli

import (
	"bytes"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// exactOutput lists the commands whose answer is for a program or is the contents of a file, also on a
// terminal. So is any answer with -z or --json.
var exactOutput = []string{"cat", "export", "mcp", "acp", "hook"}

// screen is a terminal, or a pager before it. It shows the control characters beyond ASCII, and those of
// direction, that a path, a line or a prompt holds: cairn has none of its own. Those of ASCII are escaped
// where a text comes from, because colours and links are made of them, too.
//
// The progress line gives way to what is written.
type screen struct {
	out   io.Writer
	clear func() // removes the progress line
	rest  []byte // the beginning of a character
}

// showOn makes the answer go to a stream, as a terminal wants it.
func (c *Program) showOn(out io.Writer, cmd *cobra.Command) {
	if null := cmd.Flags().Lookup("null"); c.Visible() && !slices.Contains(exactOutput, cmd.Name()) && (null == nil || !null.Changed) {
		c.screen = &screen{out: out, clear: c.Console.Clear}
		out = c.screen
	}
	c.Out.Reset(out)
}

// Write implements io.Writer.
func (s *screen) Write(text []byte) (int, error) {
	whole := append(s.rest, text...)
	end := len(whole)
	for i := 1; i < utf8.UTFMax && i <= end; i++ {
		if utf8.RuneStart(whole[end-i]) {
			if !utf8.FullRune(whole[end-i:]) {
				end -= i
			}
			break
		}
	}
	s.rest = bytes.Clone(whole[end:])
	s.clear()
	if _, err := io.WriteString(s.out, wording.VisibleHigh(string(whole[:end]))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// end writes the beginning of a character that never came.
func (s *screen) end() error {
	if s == nil || len(s.rest) == 0 {
		return nil
	}
	_, err := io.WriteString(s.out, wording.VisibleHigh(string(s.rest)))
	s.rest = nil
	return err
}
