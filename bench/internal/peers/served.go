package peers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/bench/internal/trees"
)

// served is the program beside a server that watches the tree. Its processor time is that of the
// program alone.
type served struct {
	*cli
	server *Server
	link   string // a short path to the store: a socket lies in it
}

func newServed(s Setting) *served { return &served{cli: newCLI(s)} }

// Adopt implements lendable.
func (s *served) Adopt(store string) error {
	return errors.Join(s.Reset(), trees.CopyTree(store, s.store, trees.LinkNothing))
}

func (s *served) Reset() error { return errors.Join(s.Close(), s.cli.Reset()) }

// Track starts the server before the first track.
func (s *served) Track() (string, error) {
	if s.server == nil {
		if err := s.start(); err != nil {
			return "", fmt.Errorf("start a server: %w", err)
		}
	}
	return s.cli.Track()
}

func (s *served) start() error {
	dir, err := os.MkdirTemp("", "cb")
	if err != nil {
		return err
	}
	s.link = filepath.Join(dir, "d")
	if err := errors.Join(os.MkdirAll(s.store, 0o700), os.Symlink(s.store, s.link)); err != nil {
		return err
	}
	s.program = []string{s.program[0], "--root", s.Dir, "--data-dir", s.link}
	s.server, err = StartServer(s.program[0], s.link, s.Env, s.Dir)
	return err
}

// Close ends the server.
func (s *served) Close() error {
	if s.server == nil {
		return nil
	}
	server := s.server
	s.server = nil
	return errors.Join(server.Stop(), os.RemoveAll(filepath.Dir(s.link)))
}
