package acp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

// maxWhole is the longest line that is kept whole. Only such a line can be answered or changed.
const maxWhole = 1 << 20

// writer writes whole lines.
type writer struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *writer) send(lines ...[]byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write(lines...)
}

func (w *writer) write(lines ...[]byte) error {
	for _, line := range lines {
		if len(line) == 0 {
			continue
		}
		if _, err := w.out.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// verdict says what becomes of a line.
type verdict struct {
	wait    func()        // before the line is complete
	drop    bool          // the line goes no further
	replace func() []byte // the line in its place, nil = as it is; asked for after the wait
	before  func() []byte // lines to pass on with it, asked for after the wait
	after   []byte        // likewise
	passed  []func()      // after the line has been passed on
}

// pump passes on the lines of a stream and asks about each. It returns at the end of the stream, or
// when the lines can no longer be written.
func pump(in io.Reader, out *writer, ask func([]*message) verdict) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		err := passLine(r, out, ask)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// passLine passes on one line. A line that is too long to keep is written while it is read, but for
// its newline.
func passLine(r *bufio.Reader, out *writer, ask func([]*message) verdict) error {
	var whole []byte
	var text digest
	long := false
	for {
		piece, err := r.ReadSlice('\n')
		body, complete := bytes.CutSuffix(piece, []byte{'\n'})
		text.add(body)
		switch {
		case long:
			if err := out.write(body); err != nil {
				out.mu.Unlock()
				return err
			}
		case len(whole)+len(piece) > maxWhole:
			long = true
			out.mu.Lock()
			if err := out.write(whole, body); err != nil {
				out.mu.Unlock()
				return err
			}
			whole = nil
		default:
			whole = append(whole, piece...)
		}
		switch {
		case complete && long:
			return endLong(out, ask(decode(&text, nil)))
		case complete:
			return endWhole(out, whole, ask(decode(&text, whole)))
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			if long {
				out.mu.Unlock()
			} else if werr := out.send(whole); werr != nil {
				return werr
			}
			return err
		}
	}
}

// endLong completes a line that has been written but for its newline. The lock is held until then.
func endLong(out *writer, v verdict) error {
	if v.wait != nil {
		v.wait()
	}
	err := out.write([]byte{'\n'}, v.lines(), v.after)
	out.mu.Unlock()
	return v.done(err)
}

func endWhole(out *writer, line []byte, v verdict) error {
	if v.wait != nil {
		v.wait()
	}
	switch {
	case v.drop:
		line = nil
	case v.replace != nil:
		if other := v.replace(); other != nil {
			line = other
		}
	}
	return v.done(out.send(v.lines(), line, v.after))
}

func (v *verdict) lines() []byte {
	if v.before == nil {
		return nil
	}
	return v.before()
}

func (v *verdict) done(err error) error {
	if err == nil {
		for _, f := range v.passed {
			f()
		}
	}
	return err
}
