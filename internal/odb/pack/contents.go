package pack

import (
	"hash/crc32"
	"io"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// WatchedReader counts the bytes and keeps the error of a reader, to tell errors of reading
// from errors of writing in a copy.
type WatchedReader struct {
	R   io.Reader
	N   int64
	Err error
}

// Read implements io.Reader.
func (w *WatchedReader) Read(p []byte) (int, error) {
	n, err := w.R.Read(p)
	w.N += int64(n)
	if err != nil && err != io.EOF {
		w.Err = err
	}
	return n, err
}

// AddContent compresses an object and adds it to a pack.
func (w *Writer) AddContent(id object.ID, kind object.Kind, content []byte) error {
	d := NewDeflater()
	defer d.Release()
	entry, err := d.Entry(kind, content)
	if err != nil {
		return err
	}
	return w.Add(id, crc32.ChecksumIEEE(entry), entry)
}

// AddStream is AddContent for a blob that is not held in memory. Errors of the reader
// are a *ReadError.
func (w *Writer) AddStream(id object.ID, r io.Reader, size int64) error {
	f, err := atomicfile.Create(w.dir, TempPrefix)
	if err != nil {
		return err
	}
	defer atomicfile.Discard(f)
	in := &WatchedReader{R: r}
	got, crc, err := WriteBlob(f, in, size)
	switch {
	case in.Err != nil:
		return &ReadError{in.Err}
	case err != nil:
		return err
	case got != id:
		return &ReadError{Corrupt("contents of %s", got)}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return w.AddFrom(id, crc, f)
}

// ReadError is an error of reading, as opposed to writing.
type ReadError struct{ err error }

func (e *ReadError) Error() string { return e.err.Error() }

func (e *ReadError) Unwrap() error { return e.err }
