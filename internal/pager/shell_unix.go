//go:build unix

package pager

import (
	"errors"
	"syscall"
)

// shell runs the text of a command.
var shell = []string{"sh", "-c"}

// isBroken reports whether a pipe has no reader.
func isBroken(err error) bool { return errors.Is(err, syscall.EPIPE) }
