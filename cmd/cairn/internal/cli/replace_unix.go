//go:build unix

package cli

import (
	"os"
	"syscall"
)

// replace replaces this process, so that signals, terminal, process id and exit status are those of one program.
func replace(program string, args, env []string) (status int, err error) {
	err = syscall.Exec(program, append([]string{os.Args[0]}, args...), env)
	return 0, &os.PathError{Op: "start", Path: program, Err: err}
}
