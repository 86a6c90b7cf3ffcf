package background

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
)

// Become starts a program with the streams of this one and waits for its end: Windows cannot replace a process. The
// console sends an interrupt to both, and the started one decides what it means.
func Become(program string, args, env []string) (status int, err error) {
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	signal.Ignore(os.Interrupt)
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return ended.ExitCode(), nil
	}
	return 0, err
}
