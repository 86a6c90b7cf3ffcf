//go:build linux && !amd64

package gittest

import (
	"errors"
	"syscall"
)

// skipCall, setResult and failCall change registers, which has been written for amd64
// only. Counting and killing do without.
func skipCall(int) error { return errors.ErrUnsupported }

func setResult(int, syscall.Errno) error { return errors.ErrUnsupported }

func failCall(int, syscall.Errno) error { return errors.ErrUnsupported }

// A filter is put into a program through its registers, too: here it stops at every call.
const auditArch = 0

func inject(int, []byte) (syscall.Errno, error) { return 0, errors.ErrUnsupported }

var legacyCalls map[string]uint64
