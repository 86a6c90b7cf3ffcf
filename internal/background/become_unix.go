//go:build unix

package background

import (
	"os"
	"syscall"
)

// Become replaces this process by a program, so that signals, terminal, process id and exit status are those of one program.
func Become(program string, args, env []string) (status int, err error) {
	err = syscall.Exec(program, append([]string{os.Args[0]}, args...), env)
	return 0, &os.PathError{Op: "start", Path: program, Err: err}
}
