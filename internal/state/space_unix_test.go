//go:build unix

package state

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

// The system's full disk is an ErrNoSpace, whatever it is wrapped in, and nothing else becomes one.
func TestAsNoSpace(t *testing.T) {
	t.Parallel()
	full := fmt.Errorf("write: %w", syscall.ENOSPC)
	for _, c := range []struct {
		err  error
		want bool
	}{{nil, false}, {errors.New("other"), false}, {full, true}, {&Shortage{Need: 1, Text: "t"}, true}, {ErrNoSpace, true}} {
		got := AsNoSpace(c.err)
		if errors.Is(got, ErrNoSpace) != c.want || !errors.Is(got, c.err) {
			t.Errorf("%v becomes %v", c.err, got)
		}
		if IsNoSpace(c.err) != c.want {
			t.Errorf("%v is want of space: %v", c.err, !c.want)
		}
	}
}
