//go:build unix

package gittest

import "syscall"

// Tests write files and expect the permissions that they give them, whatever the umask of
// whoever runs them.
func init() { syscall.Umask(0o022) }
