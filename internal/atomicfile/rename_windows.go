package atomicfile

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// Rename is os.Rename, repeated for up to half a second while somebody has either
// file open: Windows refuses then, and readers of small files are done in no time.
func Rename(from, to string) error {
	const sharingViolation = syscall.Errno(32)
	end := time.Now().Add(500 * time.Millisecond)
	for pause := time.Millisecond; ; pause *= 2 {
		err := os.Rename(from, to)
		if !errors.Is(err, sharingViolation) && !errors.Is(err, syscall.ERROR_ACCESS_DENIED) || time.Now().After(end) {
			return err
		}
		time.Sleep(pause)
	}
}
