package pack

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// InMemory is the size of the largest object that Open reads at once. Such an object is
// verified before its first byte is returned, so that another copy can be tried.
const InMemory = 1 << 20

// OpenRead opens an object by reading it.
func OpenRead(s Source, id object.ID) (object.Kind, int64, io.ReadCloser, error) {
	kind, content, err := ReadVerified(s, id)
	if err != nil {
		return 0, 0, nil, err
	}
	return kind, int64(len(content)), io.NopCloser(bytes.NewReader(content)), nil
}

// Stream reads a large object and compares its hash at the end: if it differs, the last
// Read returns ErrCorrupt instead of io.EOF.
type Stream struct {
	file     *os.File
	inflater *Inflater
	id       object.ID
	what     string // names the source in errors
	hash     hash.Hash
	left     int64
	err      error
}

// NewStream returns a reader of an object whose contents z inflates next. Close closes f.
// Errors name the source by what.
func NewStream(f *os.File, z *Inflater, id object.ID, what string, k object.Kind, size int64) *Stream {
	s := &Stream{file: f, inflater: z, id: id, what: what}
	s.begin(k, size)
	return s
}

func (s *Stream) begin(k object.Kind, size int64) {
	s.hash, s.left = object.NewHash(k, size), size
}

func (s *Stream) Read(p []byte) (int, error) {
	if s.err != nil || len(p) == 0 {
		return 0, s.err
	}
	n, err := 0, io.EOF
	if s.left > 0 {
		n, err = s.inflater.Read(p[:min(int64(len(p)), s.left)])
		s.hash.Write(p[:n])
		s.left -= int64(n)
	}
	switch {
	case s.left == 0 && (err == nil || err == io.EOF):
		s.err = s.end()
		if s.err == nil {
			s.err = io.EOF
		}
	case err == io.EOF:
		s.err = Corrupt("%s: ends %d bytes early", s.what, s.left)
	case err != nil:
		s.err = fmt.Errorf("%s: %w", s.what, err)
	}
	if n > 0 && s.err == io.EOF {
		return n, nil // verified; the next Read returns io.EOF
	}
	return n, s.err
}

func (s *Stream) end() error {
	if err := s.inflater.finish(); err != nil {
		return fmt.Errorf("%s: %w", s.what, err)
	}
	if got := object.HashID(s.hash); got != s.id {
		return Corrupt("%s: object %s has the contents of %s", s.what, s.id, got)
	}
	return nil
}

func (s *Stream) Close() error {
	if s.inflater == nil {
		return nil
	}
	s.inflater.Release()
	s.inflater = nil
	s.err = os.ErrClosed
	return s.file.Close()
}

// Source is one copy of an object.
type Source interface {
	Check() error // nil if the copy seems readable
	Stat() (object.Kind, int64, error)
	Read() (object.Kind, []byte, error)
	Open(object.ID) (object.Kind, int64, io.ReadCloser, error)
	Wrap(error) error // adds the position of the copy
}

// ReadVerified reads an object and compares its contents with the id.
func ReadVerified(s Source, id object.ID) (object.Kind, []byte, error) {
	kind, content, err := s.Read()
	if err != nil {
		return 0, nil, err
	}
	if got := object.Sum(kind, content); got != id {
		return 0, nil, s.Wrap(Corrupt("contents of %s", got))
	}
	return kind, content, nil
}

// ReadThrough reads an object to its end and compares it with its id.
func ReadThrough(s Source, id object.ID) error {
	_, _, in, err := s.Open(id)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return errors.Join(err, in.Close())
}
