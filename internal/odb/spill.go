package odb

import "github.com/seed-fb9cbc17/cairn/internal/atomicfile"

// spilled is what became of a piece that was to be written.
type spilled struct {
	buf []byte
	err error
}

// spill has the buffer written and takes another one, without waiting for more than
// the piece before: whoever adds to a batch holds its lock, and to copy some MiB into
// the system's memory would keep every other goroutine from adding. An error comes
// with the next spill or flush.
func (w *packWriter) spill() error {
	if !w.ask(len(w.buf)) {
		return w.skip()
	}
	free, err := w.settle()
	if err == nil {
		err = w.create()
	}
	if err != nil {
		return err
	}
	if cap(free) == 0 {
		free = make([]byte, 0, spillAt)
	}
	full, file, spilling := w.buf, w.file, make(chan spilled, 1)
	go func() {
		_, err := file.Write(full)
		spilling <- spilled{full, err}
	}()
	w.spilling, w.buf, w.done = spilling, free[:0], w.done+int64(len(full))
	return nil
}

// settle waits until a piece that was spilled is written, and returns its buffer.
func (w *packWriter) settle() (free []byte, err error) {
	if w.spilling == nil {
		return nil, nil
	}
	s := <-w.spilling
	w.spilling = nil
	w.behind.grown(w.file, w.done, writeBehindAt)
	return s.buf, s.err
}

func (w *packWriter) create() (err error) {
	if w.file == nil {
		w.file, err = atomicfile.Create(w.dir, tempPrefix)
	}
	return err
}

// flush writes all that there is and waits for the writing, not for the disk.
func (w *packWriter) flush() error {
	if !w.ask(len(w.buf)) {
		return w.skip()
	}
	_, err := w.settle()
	if err == nil {
		err = w.create()
	}
	if err != nil {
		return err
	}
	n, err := w.file.Write(w.buf)
	w.done += int64(n)
	w.buf = w.buf[:0]
	w.behind.grown(w.file, w.done, writeBehindAt)
	return err
}
