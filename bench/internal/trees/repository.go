package trees

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// Committed is a corpus as a git repository with one commit, all of it in one pack with
// deltas and nothing to commit, as after a clone. The first tree is committed, the others get a
// copy of its ".git" and have their index brought up to date.
type Committed struct {
	Corpus
	Git, Home string
	Loose     bool   // every object in a file of its own, as after git add and commit
	first     string // the tree that was committed
}

// Name is the name for people.
func (c *Committed) Name() string {
	if c.Loose {
		return c.Corpus.Name() + ", repository of loose objects"
	}
	return c.Corpus.Name() + ", repository"
}

// indexLater is how long before its index the files of a tree are made: git and cairn
// read again what is as young as the index. Double of what cairn takes for young.
const indexLater = 200 * time.Millisecond

// Fill makes the tree in dir, and a commit of it.
func (c *Committed) Fill(dir string) error {
	if err := c.Corpus.Fill(dir); err != nil {
		return err
	}
	time.Sleep(indexLater)
	p := &system.Processes{Dir: dir, Env: system.CleanEnv(c.Home)}
	if c.first == "" {
		c.first = dir
		return c.commit(p)
	}
	// Links only to what never changes: an own repository for all else.
	if err := CopyTree(filepath.Join(c.first, ".git"), filepath.Join(dir, ".git"), LinkBelow("objects")); err != nil {
		return err
	}
	if _, err := p.Run("", c.Git, "update-index", "-q", "--refresh"); err != nil {
		return err
	}
	return c.clean(p)
}

// commit writes blobs right into a pack, which is what makes it bearable for large
// trees, unless they are to be loose. That pack has no deltas, and a repack keeps it so
// without -f.
func (c *Committed) commit(p *system.Processes) error {
	threshold := "core.bigFileThreshold=1"
	last := [][]string{{"repack", "-a", "-d", "-f", "-q"}, {"prune-packed", "-q"}}
	if c.Loose {
		threshold, last = "core.bigFileThreshold=1g", nil
	}
	for _, args := range append([][]string{
		{"init", "--quiet", "--template="},
		{"config", "maintenance.auto", "false"}, // nothing is packed between two measurements
		{"-c", threshold, "-c", "core.compression=1", "add", "."},
		{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "--quiet", "-m", "all"},
	}, last...) {
		if _, err := p.Run("", append([]string{c.Git}, args...)...); err != nil {
			return err
		}
	}
	return c.clean(p)
}

// clean fails unless git finds nothing to commit.
func (c *Committed) clean(p *system.Processes) error {
	status, err := p.Run("", c.Git, "status", "--porcelain")
	if err == nil && status != "" {
		err = fmt.Errorf("%s is not clean after the commit: %.200q", p.Dir, status)
	}
	if _, statErr := os.Stat(filepath.Join(p.Dir, ".git", "index")); statErr != nil {
		err = errors.Join(err, statErr)
	}
	return err
}
