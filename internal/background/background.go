// Package background starts a program in the background: a process without terminal, without
// open files, and of no session of the caller.
package background

import (
	"os"
	"os/exec"
)

// Start starts a program with arguments; name is what it finds as its own name. It does
// not wait for the process.
func Start(program, name string, args []string) error {
	cmd := exec.Command(program, args...)
	cmd.Args[0] = name
	cmd.Dir = os.TempDir() // so that no file system is kept busy
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
