package peers

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// copied is the naive checkpoint: a copy of the whole tree, by reflinks where the file system
// has them, but for the project's own ".git". There is one copy at a time. Going back copies all
// of it over the tree and deletes nothing.
type copied struct {
	system.Processes
	store string
}

func newCopy(s Setting) *copied {
	return &copied{Processes: system.Processes{Dir: s.Root, Env: system.CleanEnv(s.Home)}, store: filepath.Join(s.Store, "copy")}
}

func (c *copied) Reset() error { return os.RemoveAll(c.store) }

func (c *copied) Track() (string, error) {
	if err := errors.Join(os.RemoveAll(c.store), os.MkdirAll(c.store, 0o755)); err != nil {
		return "", err
	}
	return c.store, c.copyAll(c.Dir, c.store)
}

// Restore copies back.
func (c *copied) Restore(tree string) error { return c.copyAll(tree, c.Dir) }

func (c *copied) copyAll(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	args := []string{"cp", "-a", "--reflink=auto", "-t", to, "--"}
	for _, e := range entries {
		if e.Name() != ".git" {
			args = append(args, filepath.Join(from, e.Name()))
		}
	}
	_, err = c.Run("", args...)
	return err
}

// Reflinks reports whether files of a directory can share their blocks with copies.
func Reflinks(dir string) bool {
	from, to := filepath.Join(dir, "reflink"), filepath.Join(dir, "reflink.copy")
	defer os.Remove(to)
	defer os.Remove(from)
	p := system.Processes{Dir: dir, Env: system.CleanEnv(dir)}
	if err := os.WriteFile(from, make([]byte, 1<<16), 0o600); err != nil {
		return false
	}
	_, err := p.Run("", "cp", "--reflink=always", "--", from, to)
	return err == nil
}
