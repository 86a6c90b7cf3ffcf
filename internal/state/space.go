package state

import (
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// Shortage is an ErrNoSpace with the number of bytes that are needed.
type Shortage struct {
	Need int64
	Text string
	Step string // what the user can do to lift the limit
}

// Error implements error.
func (s *Shortage) Error() string { return ErrNoSpace.Error() + ": " + s.Text }

// Unwrap returns ErrNoSpace.
func (s *Shortage) Unwrap() error { return ErrNoSpace }

// IsNoSpace reports whether err is an ErrNoSpace or the system's error for a full disk.
func IsNoSpace(err error) bool { return errors.Is(err, ErrNoSpace) || atomicfile.IsFull(err) }

// AsNoSpace wraps the system's error for a full disk in ErrNoSpace. Other errors stay as they are.
func AsNoSpace(err error) error {
	if err == nil || errors.Is(err, ErrNoSpace) || !atomicfile.IsFull(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNoSpace, err)
}
