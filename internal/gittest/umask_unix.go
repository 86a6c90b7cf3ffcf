//go:build unix

package gittest

import "syscall"

// Tests write files and expect exactly the permissions that they give them, whatever the umask of
// the user who runs them.
func init() { syscall.Umask(0o022) }
