package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// committed is a corpus as a git repository with one commit, all of it in one pack and
// nothing to commit, as after a clone. The first tree is committed, the others get a
// copy of its ".git" and have their index brought up to date.
type committed struct {
	corpus
	git, home string
	loose     bool   // every object in a file of its own, as after git add and commit
	first     string // the tree that was committed
}

func (c *committed) name() string {
	if c.loose {
		return c.corpus.name() + ", repository of loose objects"
	}
	return c.corpus.name() + ", repository"
}

// indexLater is how long before its index the files of a tree are made: git and cairn
// read again what is as young as the index. Double of what cairn takes for young.
const indexLater = 200 * time.Millisecond

func (c *committed) fill(dir string) error {
	if err := c.corpus.fill(dir); err != nil {
		return err
	}
	time.Sleep(indexLater)
	p := &processes{dir: dir, env: cleanEnv(c.home)}
	if c.first == "" {
		c.first = dir
		return c.commit(p)
	}
	// Links only to what never changes: an own repository for all else.
	if err := copyTree(filepath.Join(c.first, ".git"), filepath.Join(dir, ".git"), linkBelow("objects")); err != nil {
		return err
	}
	if _, err := p.run("", c.git, "update-index", "-q", "--refresh"); err != nil {
		return err
	}
	return c.clean(p)
}

// commit writes blobs right into a pack, which is what makes it bearable for large
// trees, unless they are to be loose.
func (c *committed) commit(p *processes) error {
	threshold := "core.bigFileThreshold=1"
	last := [][]string{{"repack", "-a", "-d", "-q"}, {"prune-packed", "-q"}}
	if c.loose {
		threshold, last = "core.bigFileThreshold=1g", nil
	}
	for _, args := range append([][]string{
		{"init", "--quiet", "--template="},
		{"config", "maintenance.auto", "false"}, // nothing is packed between two measurements
		{"-c", threshold, "-c", "core.compression=1", "add", "."},
		{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "--quiet", "-m", "all"},
	}, last...) {
		if _, err := p.run("", append([]string{c.git}, args...)...); err != nil {
			return err
		}
	}
	return c.clean(p)
}

// clean fails unless git finds nothing to commit.
func (c *committed) clean(p *processes) error {
	status, err := p.run("", c.git, "status", "--porcelain")
	if err == nil && status != "" {
		err = fmt.Errorf("%s is not clean after the commit: %.200q", p.dir, status)
	}
	if _, statErr := os.Stat(filepath.Join(p.dir, ".git", "index")); statErr != nil {
		err = errors.Join(err, statErr)
	}
	return err
}
