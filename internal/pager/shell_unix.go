//go:build unix

package pager

import (
	"errors"
	"os/exec"
	"syscall"
)

// shell runs the text of a command.
var shell = []string{"sh", "-c"}

// asTyped does nothing: arguments are kept apart here.
func asTyped(*exec.Cmd) {}

// isBroken reports whether a pipe has no reader.
func isBroken(err error) bool { return errors.Is(err, syscall.EPIPE) }
