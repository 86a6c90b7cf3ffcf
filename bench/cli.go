package main

import (
	"encoding/json"
	"os"
	"strings"
)

// cli is the cairn program, a process for every operation.
type cli struct {
	processes
	program []string // with the options that say where
	store   string
}

func newCLI(s setting) *cli {
	c := &cli{
		processes: processes{dir: s.Root, env: cleanEnv(s.Home)},
		program:   []string{s.Cairn, "--root", s.Root, "--data-dir", s.Store}, store: s.Store,
	}
	if s.Alone {
		c.env = append(c.env, "CAIRN_NO_BACKGROUND=1")
	}
	return c
}

func (c *cli) cairn(stdin string, args ...string) (string, error) {
	return c.run(stdin, append(c.program[:len(c.program):len(c.program)], args...)...)
}

func (c *cli) Reset() error { return os.RemoveAll(c.store) }

func (c *cli) Track() (string, error) {
	out, err := c.cairn("", "track")
	return strings.TrimSpace(out), err
}

func (c *cli) Patch(tree string) ([]string, error) {
	out, err := c.cairn("", "patch", "-z", tree)
	return nulSeparated(out), err
}

func (c *cli) DiffFull(from, to string) (func() (int, error), error) {
	out, err := c.cairn("", "diff", "--json", from, to)
	return func() (int, error) {
		var files []json.RawMessage
		err := json.Unmarshal([]byte(out), &files)
		return len(files), err
	}, err
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
	_, err := c.cairn("", "undo")
	return err
}

// Redo implements undoer.
func (c *cli) Redo() error {
	_, err := c.cairn("", "redo")
	return err
}

// patch is the specification's form of one.
type patch struct {
	Hash  string   `json:"hash"`
	Files []string `json:"files"`
}
