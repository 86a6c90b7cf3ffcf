//go:build !windows

package client

import "syscall"

// refused is the error of a socket on which no process listens.
const refused = syscall.ECONNREFUSED
