package system

import (
	"fmt"
	"io"
)

// Progress tells people what is going on.
type Progress struct {
	W     io.Writer
	Quiet bool
}

// Say prints a line, unless the run is quiet.
func (p *Progress) Say(format string, args ...any) {
	if !p.Quiet {
		fmt.Fprintf(p.W, format+"\n", args...)
	}
}
