package main

import (
	"os"
	"os/exec"
	"slices"
	"strconv"

	"github.com/seed-fb9cbc17/cairn"
)

// cleansAfter lists the commands that may begin a cleaning in the background.
var cleansAfter = []string{"track", "hook", "restore", "revert", "undo", "redo", "wait"}

// cleanLater starts a cleaning in a process of its own, if one is due, so that no
// command waits for it. Most of the time it only reads one small file. If the process
// cannot be started, the next command tries again.
func (c *cli) cleanLater() {
	if c.spawn == nil || !slices.Contains(cleansAfter, c.running) || c.last == nil || c.config == nil || !c.config.Background || isSet(c.env("CAIRN_NO_BACKGROUND")) {
		return
	}
	if c.due == nil && !c.lookDue() || !*c.due {
		return
	}
	_ = c.spawn([]string{"gc", "--background", "--quiet", "--root", c.last.Root, "--data-dir", c.last.DataDir})
}

// noteDue keeps what an open repository says, so that it need not be opened again.
func (c *cli) noteDue(repo *cairn.Repo) {
	if c.spawn != nil && slices.Contains(cleansAfter, c.running) {
		due := repo.Due(cleanEvery)
		c.due = &due
	}
}

// lookDue opens the repository, where a server did the work.
func (c *cli) lookDue() bool {
	opt := *c.last
	opt.MustExist, opt.Retention = true, nil
	repo, err := cairn.Open(opt)
	if err != nil {
		return false
	}
	defer repo.Close()
	c.noteDue(repo)
	return true
}

func isSet(value string) bool {
	set, err := strconv.ParseBool(value)
	return value != "" && (set || err != nil)
}

// spawn starts this program again, detached from terminal, session and directory, and
// without any of the open files.
func spawn(args []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, args...)
	cmd.Args[0] = os.Args[0]
	cmd.Dir = os.TempDir() // so that no file system is kept busy
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
