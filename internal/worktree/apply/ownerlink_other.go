//go:build !linux

package apply

import (
	"errors"
	"os"
)

// chownLink gives no link away: a change by name could meet another file.
func chownLink(*os.Root, string, owner) error { return errors.ErrUnsupported }

func chownLinkAt(int, string, owner) error { return errors.ErrUnsupported }
