package linediff

import (
	"bytes"
	"io"
)

const outputBuffer = 64 << 10

// output is a buffered writer with one trick: it marks lines.
type output struct {
	w   io.Writer
	buf []byte
	err error
}

// flush writes the buffer and returns the first error.
func (o *output) flush() error {
	if len(o.buf) > 0 && o.err == nil {
		_, o.err = o.w.Write(o.buf)
	}
	o.buf = o.buf[:0]
	return o.err
}

// write appends b; a text that is too long for the buffer goes past it.
func (o *output) write(b []byte) {
	if len(o.buf)+len(b) > outputBuffer {
		o.flush()
	}
	if len(b) <= outputBuffer {
		o.buf = append(o.buf, b...)
	} else if o.err == nil {
		_, o.err = o.w.Write(b)
	}
}

// lines writes each line of content with the mark before it. A last line without
// '\n' is ended and the fact noted, as all diffs do.
func (o *output) lines(mark byte, content []byte) {
	if len(content) == 0 {
		return
	}
	noted := content[len(content)-1] != '\n'
	for len(content) > 0 && o.err == nil {
		n := bytes.IndexByte(content, '\n') + 1
		if n == 0 {
			n = len(content)
		}
		o.line(mark, content[:n])
		content = content[n:]
	}
	if noted {
		o.write([]byte("\n\\ No newline at end of file\n"))
	}
}

// line writes the mark and the line.
func (o *output) line(mark byte, line []byte) {
	at := len(o.buf)
	if at+1+len(line) > cap(o.buf) { // not the common case
		o.write([]byte{mark})
		o.write(line)
		return
	}
	o.buf = o.buf[:at+1+len(line)]
	o.buf[at] = mark
	copy(o.buf[at+1:], line)
}
