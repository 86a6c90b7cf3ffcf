package state

import (
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/atomicfile"
)

// Shortage is an ErrNoSpace that knows how many bytes are needed.
type Shortage struct {
	Need int64
	Text string
	Step string // that lifts the limit
}

func (s *Shortage) Error() string { return ErrNoSpace.Error() + ": " + s.Text }

func (s *Shortage) Unwrap() error { return ErrNoSpace }

func IsNoSpace(err error) bool { return errors.Is(err, ErrNoSpace) || atomicfile.IsFull(err) }

// AsNoSpace makes an ErrNoSpace of what the system says about a full disk.
func AsNoSpace(err error) error {
	if err == nil || errors.Is(err, ErrNoSpace) || !atomicfile.IsFull(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNoSpace, err)
}
