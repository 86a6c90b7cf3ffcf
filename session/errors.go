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

	// ErrFetched: the session was fetched from another store. It can be read, restored and forked; Resume
	// makes it one of this store.
	ErrFetched = errors.New("the session was fetched")

	// ErrExpired: the requested state has been cleaned away.
	ErrExpired = errors.New("expired")
)

// MaxID is the longest id, in bytes.
const MaxID = 1024

// owned refuses a session of another store.
func (h *history) owned() error {
	if h.from == nil {
		return nil
	}
	return fmt.Errorf("session %q: %w from %s (cairn resume %s goes on with it)", h.ID, ErrFetched, h.from, word(h.ID))
}
