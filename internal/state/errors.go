package state

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// Disabled returns an ErrDisabled with the reason for it.
func Disabled(why string) error { return fmt.Errorf("%w: %s", ErrDisabled, why) }

// Errors when opening.
var (
	// ErrRoot: the root is missing, not a directory, or cannot be used.
	ErrRoot = errors.New("unusable root")

	// ErrOtherRoot: something failed in another root of the same session or operation.
	ErrOtherRoot = errors.New("in another directory of the session")

	// ErrStore: the store cannot be used, for instance because it belongs to another root, was written by
	// a later release, or was removed while it was open.
	ErrStore = odb.ErrUnusable
)

// Errors of commands.
var (
	// ErrNotFound: no such checkpoint, path or operation.
	ErrNotFound = errors.New("not found")

	// ErrAmbiguous: several checkpoints share the prefix.
	ErrAmbiguous = errors.New("ambiguous")

	// ErrLocked: another process held the store until the deadline. The error text
	// names it.
	ErrLocked = odb.ErrLocked

	// ErrSealed: the store is encrypted, and was not opened.
	ErrSealed = odb.ErrSealed

	// ErrCorrupt: the bytes of an object in the store do not match its id. Nothing was written from
	// it.
	ErrCorrupt = odb.ErrCorrupt

	// ErrConflict: a revert with the policy Fail met a path that was changed since.
	ErrConflict = errors.New("conflict")

	// ErrMoved: the disk differs from the state that the plan was made for.
	ErrMoved = errors.New("the disk has moved since")

	// ErrTooLarge: the root holds more than the limits of Options allow. Nothing was
	// stored.
	ErrTooLarge = errors.New("too large to capture")

	// ErrSecrets: files hold credentials, and the settings refuse checkpoints of such files. Nothing of
	// them was stored. The error text names files, rules and lines, and no credential.
	ErrSecrets = errors.New("files hold secrets")

	// ErrNoSpace: the disk is too full, or the store has used up its budget. Nothing
	// was stored.
	ErrNoSpace = errors.New("not enough space for the store")

	// ErrDeadline: a deadline has ended the call, that of its context or one of cairn's own. They are one
	// error, so that it does not matter at which moment, and in which package, the time ran out.
	ErrDeadline = context.DeadlineExceeded

	// ErrDisabled: a user or a setting has switched captures off for this root. The error text says
	// which.
	ErrDisabled = errors.New("capturing is switched off")

	// ErrOutside: the path does not lie below the root.
	ErrOutside = errors.New("outside the root")
)

// NotFound returns an ErrNotFound with a formatted text.
func NotFound(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNotFound, fmt.Sprintf(format, args...))
}

// ErrLater is an ErrStore: a later release has made a part of the store. The rest can be used.
var ErrLater = fmt.Errorf("%w: made by a later release", ErrStore)

// laterError is an ErrLater with its own text.
type laterError struct{ what string }

// LaterRelease returns an ErrLater about data, named by a formatted text, that a later release has made.
func LaterRelease(format string, args ...any) error {
	return &laterError{fmt.Sprintf(format, args...)}
}

func (e *laterError) Error() string {
	return fmt.Sprintf("%v: %s: a later release of cairn made it; use a newer cairn", ErrStore, e.what)
}

func (e *laterError) Unwrap() error { return ErrLater }

// unreadError is an ErrDeadline of a capture.
type unreadError struct{ text string }

// Unread returns an ErrDeadline about a capture that did not read everything.
func Unread(format string, args ...any) error { return &unreadError{fmt.Sprintf(format, args...)} }

func (e *unreadError) Error() string { return "not everything could be read in time: " + e.text }
func (e *unreadError) Unwrap() error { return ErrDeadline }

// Cause is an error inside an answer. Its JSON form is its text. A decoded Cause has the text only.
type Cause struct{ Err error }

// CauseOf wraps err, and returns nil for nil.
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

// MendHint names the command that repairs a store which lacks objects.
const MendHint = "cairn doctor --fix brings it back or cuts it out"
