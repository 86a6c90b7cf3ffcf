package pack

import "github.com/seed-fb9cbc17/cairn/internal/atomicfile"

// spilled is the result of writing a piece.
type spilled struct {
	buf []byte
	err error
}

// spill starts writing the buffer and takes another one. It waits for the piece before only:
// a goroutine that adds to a batch holds its lock, and copying megabytes into the kernel
// would keep all others from adding. An error is returned by the next spill or flush.
func (w *Writer) spill() error {
	if !w.ask(len(w.buf)) {
		return w.skip()
	}
	free, err := w.waitSpilled()
	if err == nil {
		err = w.create()
	}
	if err != nil {
		return err
	}
	if cap(free) == 0 {
		free = make([]byte, 0, SpillAt)
	}
	full, file, spilling := w.buf, w.file, make(chan spilled, 1)
	go func() {
		_, err := file.Write(full)
		spilling <- spilled{full, err}
	}()
	w.spilling, w.buf, w.done = spilling, free[:0], w.done+int64(len(full))
	return nil
}

// waitSpilled waits until the spilled piece is written, and returns its buffer.
func (w *Writer) waitSpilled() (free []byte, err error) {
	if w.spilling == nil {
		return nil, nil
	}
	s := <-w.spilling
	w.spilling = nil
	w.behind.grown(w.file, w.done, writeBehindAt)
	return s.buf, s.err
}

func (w *Writer) create() (err error) {
	if w.file == nil {
		w.file, err = atomicfile.Create(w.dir, TempPrefix)
	}
	return err
}

// flush writes the buffer and waits until the kernel has it, not until the disk has it.
func (w *Writer) flush() error {
	if !w.ask(len(w.buf)) {
		return w.skip()
	}
	_, err := w.waitSpilled()
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
