package peers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-fb9cbc17/cairn/bench/internal/system"
)

// cli is the cairn program, a process for every operation.
type cli struct {
	system.Processes
	program []string // with the options that say where
	store   string
}

func newCLI(s Setting) *cli {
	c := &cli{
		Processes: system.Processes{Dir: s.Root, Env: system.CleanEnv(s.Home)},
		program:   []string{s.Cairn, "--root", s.Root, "--data-dir", s.Store}, store: s.Store,
	}
	c.program = append(c.program, s.CairnOptions...)
	if s.Alone {
		c.Env = append(c.Env, "CAIRN_NO_BACKGROUND=1")
	}
	return c
}

func (c *cli) cairn(stdin string, args ...string) (string, error) {
	return c.Run(stdin, append(c.program[:len(c.program):len(c.program)], args...)...)
}

func (c *cli) Reset() error { return os.RemoveAll(c.store) }

func (c *cli) Track() (string, error) {
	out, err := c.cairn("", "track")
	return strings.TrimSpace(out), err
}

func (c *cli) Patch(tree string) ([]string, error) {
	out, err := c.cairn("", "patch", "-z", tree)
	return NulSeparated(out), err
}

// TrackOnly implements pathTracker. What it leaves out is not captured after it: that
// would be in the way of what is measured next.
func (c *cli) TrackOnly(files []string) error {
	_, err := c.cairn("", append([]string{"track", "--only-paths", "--no-rest"}, files...)...)
	return err
}

// DiffFull lets the program write to a file, as large as the answer may be.
func (c *cli) DiffFull(from, to string) (func() (int, error), error) {
	answer := filepath.Join(filepath.Dir(c.store), "answer.json")
	err := c.RunTo(answer, append(slices.Clone(c.program), "diff", "--json", from, to)...)
	return func() (int, error) {
		n, err := countElements(answer)
		return n, errors.Join(err, os.Remove(answer))
	}, err
}

// countElements counts the elements of the JSON array in a file, one at a time.
func countElements(file string) (n int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	dec := json.NewDecoder(bufio.NewReader(f))
	if _, err := dec.Token(); err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	for ; dec.More(); n++ {
		var element json.RawMessage
		if err := dec.Decode(&element); err != nil {
			return n, fmt.Errorf("%s: %w", file, err)
		}
	}
	return n, nil
}

func (c *cli) Restore(tree string) error {
	_, err := c.cairn("", "restore", tree)
	return err
}

func (c *cli) Revert(tree string, files []string) error {
	patches, err := json.Marshal([]patch{{Hash: tree, Files: files}})
	if err != nil {
		return err
	}
	_, err = c.cairn(string(patches), "revert", "--patches", "-")
	return err
}

// Undo implements undoer.
func (c *cli) Undo() error {
	_, err := c.cairn("", "undo", "--operation")
	return err
}

// Redo implements undoer.
func (c *cli) Redo() error {
	_, err := c.cairn("", "redo", "--operation")
	return err
}

// patch is the specification's form of one.
type patch struct {
	Hash  string   `json:"hash"`
	Files []string `json:"files"`
}
