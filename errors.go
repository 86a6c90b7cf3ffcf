package cairn

import (
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
)

// Errors when opening.
var ErrRoot = state.ErrRoot

// ErrStore: the store is there but cannot be used, for instance because it
// belongs to another root or was written by a later release.
var ErrStore = state.ErrStore

// Errors of commands.
var ErrNotFound = state.ErrNotFound

// ErrAmbiguous: a prefix that several checkpoints share.
var ErrAmbiguous = state.ErrAmbiguous

// ErrLocked: another process held the store until the deadline. The error text
// names it.
var ErrLocked = state.ErrLocked

// ErrCorrupt: an object of the store does not have the bytes that its id
// promises. Nothing was written from it.
var ErrCorrupt = state.ErrCorrupt

// ErrConflict: a revert with the policy Fail met a path that was changed since.
var ErrConflict = state.ErrConflict

// ErrMoved: the disk is not what it was when the plan was made.
var ErrMoved = state.ErrMoved

// ErrTooLarge: the root holds more than the limits of Options allow. Nothing was
// stored.
var ErrTooLarge = state.ErrTooLarge

// ErrNoSpace: the disk is too full, or the store has used up its budget. Nothing
// was stored.
var ErrNoSpace = state.ErrNoSpace

// ErrDeadline: time ran out before everything was read. There is no checkpoint, but
// what was read need not be read again.
var ErrDeadline = state.ErrDeadline

// ErrDisabled: somebody decided that nothing is to be captured here. The error text
// says who.
var ErrDisabled = state.ErrDisabled

// ErrOutside: a path that does not lie below the root.
var ErrOutside = state.ErrOutside

// Cause is an error inside an answer. In JSON it is its text, and comes back as an error
// that has no more than that.
type Cause = state.Cause

// Errors of pins.
var ErrExists = history.ErrExists

// ErrName: no checkpoint can have such a name.
var ErrName = history.ErrName

// ErrBusy: another process is at the same work.
var ErrBusy = retention.ErrBusy

// ErrBundle: what was to be imported is not a bundle that Export has written, or it
// was cut off or altered. Nothing of it is in the store.
var ErrBundle = transfer.ErrBundle

// ErrNoGit: push and fetch found no git program.
var ErrNoGit = transfer.ErrNoGit
