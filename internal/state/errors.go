package state

import (
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

func Disabled(why string) error { return fmt.Errorf("%w: %s", ErrDisabled, why) }

// Errors when opening.
var (
	// ErrRoot: the root is missing, not a directory, or cannot be used.
	ErrRoot = errors.New("unusable root")

	// ErrStore: the store is there but cannot be used, for instance because it
	// belongs to another root or was written by a later release.
	ErrStore = errors.New("unusable store")
)

// Errors of commands.
var (
	// ErrNotFound: no such checkpoint, path or operation.
	ErrNotFound = errors.New("not found")

	// ErrAmbiguous: a prefix that several checkpoints share.
	ErrAmbiguous = errors.New("ambiguous")

	// ErrLocked: another process held the store until the deadline. The error text
	// names it.
	ErrLocked = odb.ErrLocked

	// ErrCorrupt: an object of the store does not have the bytes that its id
	// promises. Nothing was written from it.
	ErrCorrupt = odb.ErrCorrupt

	// ErrConflict: a revert with the policy Fail met a path that was changed since.
	ErrConflict = errors.New("conflict")

	// ErrMoved: the disk is not what it was when the plan was made.
	ErrMoved = errors.New("the disk has moved since")

	// ErrTooLarge: the root holds more than the limits of Options allow. Nothing was
	// stored.
	ErrTooLarge = errors.New("too large to capture")

	// ErrNoSpace: the disk is too full, or the store has used up its budget. Nothing
	// was stored.
	ErrNoSpace = errors.New("not enough space for the store")

	// ErrDeadline: time ran out before everything was read. There is no checkpoint, but
	// what was read need not be read again.
	ErrDeadline = errors.New("not everything could be read in time")

	// ErrDisabled: somebody decided that nothing is to be captured here. The error text
	// says who.
	ErrDisabled = errors.New("capturing is switched off")

	// ErrOutside: a path that does not lie below the root.
	ErrOutside = errors.New("outside the root")
)

func NotFound(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNotFound, fmt.Sprintf(format, args...))
}

// Cause is an error inside an answer. In JSON it is its text, and comes back as an error
// that has no more than that.
type Cause struct{ Err error }

// CauseOf is nil where there is no error.
func CauseOf(err error) *Cause {
	if err == nil {
		return nil
	}
	return &Cause{err}
}

// Error implements error.
func (c *Cause) Error() string { return c.Err.Error() }

// Unwrap returns the error itself.
func (c *Cause) Unwrap() error { return c.Err }

// MarshalText implements encoding.TextMarshaler.
func (c *Cause) MarshalText() ([]byte, error) { return []byte(c.Err.Error()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Cause) UnmarshalText(text []byte) error {
	c.Err = errors.New(string(text))
	return nil
}

// MendHint is the way out of a store that lacks objects.
const MendHint = "cairn doctor --fix brings it back or cuts it out"
