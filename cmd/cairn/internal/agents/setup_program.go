package agents

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/cli"
	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/program"
	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
	"github.com/seed-fb9cbc17/cairn/internal/setup"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// program is the command by which agents start this cairn.
func (c *commands) program(f *setupFlags) ([]string, error) {
	file, err := program.Path()
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
		if path, err = c.copied(dir, f.dryRun); err != nil {
			return nil, err
		}
	case passing:
		c.Console.Remark("%s goes with the next update of cairn: run cairn setup again after it,"+
			" or put cairn into a directory of PATH that stays", wording.Printable(path))
	}
	command := []string{path}
	if c.Global.DataDir != "" {
		command = append(command, "--data-dir", cli.AbsolutePath(dir, c.Global.DataDir))
	}
	return command, nil
}

// copied is the path of a copy of the program in the data directory, beside that of its cairn-full. A cache may be
// emptied at any time, and the hooks would call a program that is gone.
func (c *commands) copied(dir string, dryRun bool) (string, error) {
	data, err := c.DataDir(dir)
	if err != nil {
		return "", err
	}
	files, err := cli.ProgramFiles()
	if err != nil {
		return "", err
	}
	path := filepath.Join(data, "bin", filepath.Base(files[0]))
	if dryRun {
		return path, nil
	}
	made := false
	for _, file := range slices.Backward(files) { // a copy of the program never lacks what it needs
		wrote, err := copyProgram(file, filepath.Join(filepath.Dir(path), filepath.Base(file)))
		if err != nil {
			return "", fmt.Errorf("this cairn lies in a cache, and no copy of it can be made: %w", err)
		}
		made = made || wrote
	}
	if made {
		c.Console.Remark("%s lies in a cache: hooks call the copy %s", wording.Printable(files[0]), wording.Printable(path))
	}
	return path, nil
}

// copyProgram copies a file, unless an equal one is there.
func copyProgram(from, to string) (made bool, err error) {
	own, err := os.ReadFile(from)
	if err != nil {
		return false, err
	}
	if was, err := os.ReadFile(to); err == nil && bytes.Equal(was, own) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return false, err
	}
	return true, atomicfile.Write(to, 0o755, true, func(w io.Writer) error { _, err := w.Write(own); return err })
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
