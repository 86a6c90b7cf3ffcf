//go:build !linux

package apply

import (
	"errors"
	"os"
)

// startWriting and the functions below fail: only Linux can wait for the contents of a file without
// flushing the rest of it.
func startWriting(*os.File) error { return errors.ErrUnsupported }

func awaitWritten(*os.File) error { return errors.ErrUnsupported }

func awaitsAll() bool { return false }
