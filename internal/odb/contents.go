package odb

import (
	"hash/crc32"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// watched remembers what a reader said, to tell its errors from those of the writer.
type watched struct {
	r   io.Reader
	n   int64
	err error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.n += int64(n)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

// AddContent compresses an object and adds it to a pack.
func (w *packWriter) AddContent(id object.ID, kind object.Kind, content []byte) error {
	d := newDeflater()
	defer d.release()
	entry, err := d.entry(kind, content)
	if err != nil {
		return err
	}
	return w.add(id, crc32.ChecksumIEEE(entry), entry)
}

// AddStream is AddContent for a blob that is not held in memory. Errors of the reader
// are a *readError.
func (w *packWriter) AddStream(id object.ID, r io.Reader, size int64) error {
	f, err := atomicfile.Create(w.dir, tempPrefix)
	if err != nil {
		return err
	}
	defer atomicfile.Discard(f)
	in := &watched{r: r}
	got, crc, err := writeLarge(f, in, size)
	switch {
	case in.err != nil:
		return &readError{in.err}
	case err != nil:
		return err
	case got != id:
		return &readError{corrupt("contents of %s", got)}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return w.addFrom(id, crc, f)
}

// readError says that it was reading that failed, not writing.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

func (e *readError) Unwrap() error { return e.err }
