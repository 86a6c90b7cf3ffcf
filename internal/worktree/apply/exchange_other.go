//go:build !linux && !darwin

package apply

import (
	"errors"
	"os"
)

// exchange would give two paths in a directory the names of each other. This system has no call for it.
func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }

// renameNew would rename a file to a name that nothing may have. This system has no call for it that a directory
// handle takes.
func renameNew(*os.Root, string, string) error { return errors.ErrUnsupported }
