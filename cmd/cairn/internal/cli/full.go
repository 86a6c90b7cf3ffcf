package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/seed-fb9cbc17/cairn/cmd/cairn/internal/program"
	"github.com/seed-fb9cbc17/cairn/internal/background"
)

// ProgramFiles are the file that people start and, if it is a lean cairn, its cairn-full.
func ProgramFiles() ([]string, error) {
	own, err := program.Path()
	if err != nil {
		return nil, err
	}
	if program.Lean || program.Front() != "" {
		if full := fullOf(own); full != "" {
			return []string{own, full}, nil
		}
	}
	return []string{own}, nil
}

// fullOf is the path of the cairn-full of a lean cairn, "" if there is none: beside it, or in lib/cairn of the directory
// whose bin has the lean one. A symbolic link to the lean cairn is followed.
func fullOf(lean string) string {
	name := "cairn-full"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if real, err := filepath.EvalSymlinks(lean); err == nil {
		lean = real
	}
	dir := filepath.Dir(lean)
	for _, path := range []string{filepath.Join(dir, name), filepath.Join(filepath.Dir(dir), "lib", "cairn", name)} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// lacks reports whether this is a lean cairn without a command for these words. A wrong word is also for cairn-full,
// which knows the commands that are like it.
func (c *Program) lacks(args []string) bool {
	if !program.Lean {
		return false
	}
	cmd, _, _ := c.Root.Find(args)
	return cmd == c.Root
}

// byFull has cairn-full carry out a command line. On Unix it returns only after a failure.
func (c *Program) byFull(args []string) error {
	own, err := program.Path()
	if err != nil {
		return err
	}
	full := fullOf(own)
	if full == "" {
		return fmt.Errorf("there is no cairn-full beside %s or in ../lib/cairn: install all files of the release, or build cairn without the tag lean", own)
	}
	status, err := background.Become(full, args, append(os.Environ(), program.Environment(ThisBuild().String(), own)))
	if err != nil {
		return err
	}
	return ChildStatus(status)
}

// warnOfFront warns in a cairn-full whose lean cairn is another build: each may lack what the other relies on.
func (c *Program) warnOfFront() {
	front := program.Front()
	if front == "" { // most runs: none pays for what the linker recorded
		return
	}
	if own := ThisBuild().String(); front != own {
		c.Console.Complain("warning: cairn is " + front + ", but its cairn-full is " + own + ": install all files of one release")
	}
}
