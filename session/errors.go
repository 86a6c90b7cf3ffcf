package session

import (
	"errors"
	"fmt"

	"github.com/seed-fb9cbc17/cairn"
)

var (
	// ErrNotFound: no such session, message, part or step. It wraps cairn.ErrNotFound.
	ErrNotFound = fmt.Errorf("session: %w", cairn.ErrNotFound)

	// ErrBusy: a step of the session, or of one of its children, is open. End it, or
	// say that its agent is gone (MoveOptions.EndOpen).
	ErrBusy = errors.New("session is busy")

	// ErrID: an id that is empty, longer than MaxID bytes or not UTF-8, or
	// Newest.
	ErrID = errors.New("unusable id")

	// ErrExpired: the requested state has been cleaned away.
	ErrExpired = errors.New("expired")
)

// MaxID is the longest id, in bytes.
const MaxID = 1024
