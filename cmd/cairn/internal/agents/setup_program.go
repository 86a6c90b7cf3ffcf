package agents

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/setup"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// program is the command by which agents start this cairn.
func (c *commands) program(f *setupFlags) ([]string, error) {
	file, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := c.WorkDir()
	if err != nil {
		return nil, err
	}
	from := setup.Program{OS: runtime.GOOS, File: file, Path: c.Env("PATH"), Home: c.Home(), User: c.Env("USER"), Same: sameFile}
	path, passing, err := from.Lasting()
	switch {
	case f.remove:
	case err != nil:
		return nil, err
	case passing && from.Cached():
		if path, err = c.copied(file, dir, f.dryRun); err != nil {
			return nil, err
		}
	case passing:
		c.Console.Remark("%s goes with the next update of cairn: run cairn setup again after it,"+
			" or put cairn into a directory of PATH that stays", wording.Printable(path))
	}
	program := []string{path}
	if c.Global.DataDir != "" {
		program = append(program, "--data-dir", cli.AbsolutePath(dir, c.Global.DataDir))
	}
	return program, nil
}

// copied is the path of a copy of the program in the data directory. A cache may be emptied at any
// time, and the hooks would call a program that is gone.
func (c *commands) copied(program, dir string, dryRun bool) (string, error) {
	data, err := c.DataDir(dir)
	if err != nil {
		return "", err
	}
	path := filepath.Join(data, "bin", filepath.Base(program))
	own, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, own) || dryRun {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	if err := atomicfile.Write(path, 0o755, true, func(w io.Writer) error { _, err := w.Write(own); return err }); err != nil {
		return "", fmt.Errorf("this cairn lies in a cache, and no copy of it can be made: %w", err)
	}
	c.Console.Remark("%s lies in a cache: hooks call the copy %s", wording.Printable(program), wording.Printable(path))
	return path, nil
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
