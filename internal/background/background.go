// Package background starts a program in the background: a process without terminal, without
// open files, and of no session of the caller. It also starts one in the place of this process.
package background

import (
	"os"
	"os/exec"
)

// Start starts a program with arguments; name is what it finds as its own name. The environment is env, nil = that of
// this process. Start does not wait for the process.
func Start(program, name string, env, args []string) error {
	_, err := start(program, name, env, args)
	return err
}

// start also returns a channel that is closed once the process has ended. A server starts many, and the system keeps
// each one until its parent has asked for the exit status.
func start(program, name string, env, args []string) (ended <-chan struct{}, err error) {
	cmd := exec.Command(program, args...)
	cmd.Args[0], cmd.Env = name, env
	cmd.Dir = os.TempDir() // so that no file system is kept busy
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // what the process does is its own business
		close(done)
	}()
	return done, nil
}
