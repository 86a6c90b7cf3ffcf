package pager

import (
	"errors"
	"syscall"
)

// shell runs the text of a command.
var shell = []string{"cmd", "/c"}

// noReader is ERROR_NO_DATA: the other end of a pipe is being closed.
const noReader = syscall.Errno(232)

// isBroken reports whether a pipe has no reader.
func isBroken(err error) bool {
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, noReader)
}
