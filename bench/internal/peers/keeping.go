package peers

import (
	"context"
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
)

// What only some contenders can do beside a contender's work: list and clean what
// they keep.

// lister is a contender that lists its checkpoints.
type lister interface {
	// Log lists the newest n.
	Log(n int) error
}

// Cleaner is a contender whose store can be cleaned.
type Cleaner interface {
	// Clean does what the contender does to its store once an hour.
	Clean() error
}

// logPage is how many checkpoints a person looks at.
const logPage = 20

// keep carries out an operation on what a contender keeps.
func keep(c Contender, op string) error {
	switch op {
	case OpLog:
		if l, ok := c.(lister); ok {
			return l.Log(logPage)
		}
	case OpClean:
		if l, ok := c.(Cleaner); ok {
			return l.Clean()
		}
	}
	return fmt.Errorf("this contender has no operation called %q", op)
}

// Clean implements cleaner.
func (s *spec) Clean() error {
	_, err := s.Run("", s.git, "--git-dir", s.store, "gc", "--quiet", "--prune=7.days")
	return err
}

// Clean implements cleaner.
func (c *cli) Clean() error {
	_, err := c.cairn("", "gc")
	return err
}

// Log implements lister.
func (c *cli) Log(n int) error {
	_, err := c.cairn("", "log", "-n", fmt.Sprint(n))
	return err
}

// Clean implements cleaner.
func (l *library) Clean() error {
	repo, err := l.opened()
	if err != nil {
		return err
	}
	_, err = repo.Clean(context.Background(), cairn.CleanOptions{})
	return err
}

// Log implements lister.
func (l *library) Log(n int) error {
	repo, err := l.opened()
	if err != nil {
		return err
	}
	for _, err := range repo.Checkpoints(context.Background()) {
		if n--; n <= 0 || err != nil {
			return err
		}
	}
	return nil
}
