package odb

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// inMemory is the size up to which Open reads an object at once, which verifies it
// before the first byte is handed out and leaves a second copy elsewhere a chance.
const inMemory = 1 << 20

// openRead opens an object by reading it.
func openRead(s source, id object.ID) (object.Kind, int64, io.ReadCloser, error) {
	kind, content, err := readVerified(s, id)
	if err != nil {
		return 0, 0, nil, err
	}
	return kind, int64(len(content)), io.NopCloser(bytes.NewReader(content)), nil
}

// stream reads a large object and compares its hash when the end is reached: the
// reader gets ErrCorrupt in place of io.EOF if it differs.
type stream struct {
	file     *os.File
	inflater *inflater
	id       object.ID
	what     string // names the source in errors
	hash     hash.Hash
	left     int64
	err      error
}

// newStream returns a reader of an object whose contents z is about to inflate. It closes
// the file in the end, and names it what in errors.
func newStream(f *os.File, z *inflater, id object.ID, what string, k object.Kind, size int64) *stream {
	s := &stream{file: f, inflater: z, id: id, what: what}
	s.begin(k, size)
	return s
}

func (s *stream) begin(k object.Kind, size int64) {
	s.hash, s.left = object.NewHash(k, size), size
}

func (s *stream) Read(p []byte) (int, error) {
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
		s.err = corrupt("%s: ends %d bytes early", s.what, s.left)
	case err != nil:
		s.err = fmt.Errorf("%s: %w", s.what, err)
	}
	if n > 0 && s.err == io.EOF {
		return n, nil // verified; the end is told next time
	}
	return n, s.err
}

func (s *stream) end() error {
	if err := s.inflater.finish(); err != nil {
		return fmt.Errorf("%s: %w", s.what, err)
	}
	if got := object.HashID(s.hash); got != s.id {
		return corrupt("%s: object %s has the contents of %s", s.what, s.id, got)
	}
	return nil
}

func (s *stream) Close() error {
	if s.inflater == nil {
		return nil
	}
	s.inflater.release()
	s.inflater = nil
	s.err = os.ErrClosed
	return s.file.Close()
}

// source is one copy of an object.
type source interface {
	check() error // whether it looks fit to be read
	stat() (object.Kind, int64, error)
	read() (object.Kind, []byte, error)
	open(object.ID) (object.Kind, int64, io.ReadCloser, error)
	wrap(error) error // adds where the copy lies
}

func readVerified(s source, id object.ID) (object.Kind, []byte, error) {
	kind, content, err := s.read()
	if err != nil {
		return 0, nil, err
	}
	if got := object.Sum(kind, content); got != id {
		return 0, nil, s.wrap(corrupt("contents of %s", got))
	}
	return kind, content, nil
}

// readThrough reads an object to its end and compares it with its id.
func readThrough(s source, id object.ID) error {
	_, _, in, err := s.open(id)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return errors.Join(err, in.Close())
}
