package cairn

import (
	"errors"

	"github.com/seed-fb9cbc17/cairn/internal/capture"
	"github.com/seed-fb9cbc17/cairn/internal/copies"
	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
)

// ErrRoot: the root is missing, not a directory, or cannot be used.
var ErrRoot = state.ErrRoot

// ErrOtherRoot: something failed in another root of the same session or operation. The error text
// names the root.
var ErrOtherRoot = state.ErrOtherRoot

// ErrStore: the store cannot be used, for instance because it belongs to another root, was written by
// a later release, or was removed while it was open.
var ErrStore = state.ErrStore

// ErrLater is an ErrStore about a part of the store, such as one checkpoint: a later release has made it. The
// rest can be used.
var ErrLater = state.ErrLater

// ErrNotFound: no such checkpoint, path or operation.
var ErrNotFound = state.ErrNotFound

// ErrAmbiguous: several checkpoints share the prefix.
var ErrAmbiguous = state.ErrAmbiguous

// ErrLocked: another process held the store until the deadline. The error text
// names it.
var ErrLocked = state.ErrLocked

// ErrSealed: Seal has encrypted the store, and Unseal has not opened it yet.
var ErrSealed = state.ErrSealed

// ErrNotSealed: Unseal was called for a store that is open.
var ErrNotSealed = errors.New("store is open")

// ErrCorrupt: the bytes of an object in the store do not match its id. Nothing was written from
// it.
var ErrCorrupt = state.ErrCorrupt

// ErrConflict: a revert with the policy Fail met a path that was changed since.
var ErrConflict = state.ErrConflict

// ErrMoved: the disk differs from the state that the plan was made for.
var ErrMoved = state.ErrMoved

// ErrTooLarge: the root holds more than the limits of Options allow. Nothing was
// stored.
var ErrTooLarge = state.ErrTooLarge

// ErrSecrets: files hold credentials, and Options.Secrets refuses checkpoints of such files. Nothing
// of them was stored. The error text names files, rules and lines, and no credential.
var ErrSecrets = state.ErrSecrets

// ErrNoSpace: the disk is too full, or the store has used up its budget. Nothing
// was stored.
var ErrNoSpace = state.ErrNoSpace

// ErrDeadline: the deadline of the context, or one of cairn's own, has ended the call. It is
// context.DeadlineExceeded. Of a track there is no checkpoint, and the next attempt does not read again what was
// read.
var ErrDeadline = state.ErrDeadline

// ErrDisabled: a user or a setting has switched captures off for this root. The error text says
// which.
var ErrDisabled = state.ErrDisabled

// ErrOutside: the path does not lie below the root.
var ErrOutside = state.ErrOutside

// Cause is an error inside an answer. Its JSON form is its text. A decoded Cause has the text only.
type Cause = state.Cause

// ErrExists: the name is given to another checkpoint.
var ErrExists = history.ErrExists

// ErrName: no checkpoint, or no project, can have such a name.
var ErrName = history.ErrName

// ErrBusy: another process is cleaning.
var ErrBusy = retention.ErrBusy

// ErrBundle: the input is not a bundle that Export has written, or it was cut off or altered.
// Nothing of it is in the store.
var ErrBundle = transfer.ErrBundle

// ErrNoGit: push and fetch found no git program.
var ErrNoGit = transfer.ErrNoGit

// ErrNoRemote: a call names no remote, no push has gone to one, and Options.Sync names none.
var ErrNoRemote = transfer.ErrNoRemote

// ErrMessage: the message of a Track is longer than MaxMessage. There is no new checkpoint.
var ErrMessage = capture.ErrMessage

// ErrPlace: a copy cannot be made at this path: something is there, or it lies inside the root or a
// store. Nothing was done.
var ErrPlace = copies.ErrPlace

// ErrWorktree: git allows no linked work tree of the user's repository, or not now. Nothing was done.
var ErrWorktree = copies.ErrWorktree

// ErrStalled: a push or a fetch has made no progress for the time of Options.RemoteTimeout. Nothing of the
// fetch is in the store.
var ErrStalled = transfer.ErrStalled

// ErrUnmerged: a fork has unmerged changes, or files outside every checkpoint. Nothing was done.
var ErrUnmerged = copies.ErrUnmerged

// ErrThinned: a cleaning has dropped the state of the checkpoint by the rules of Retention.Keep. It
// wraps ErrNotFound. errors.As gets the ThinnedError with the nearest checkpoint that was kept.
var ErrThinned = history.ErrThinned

// ThinnedError is an ErrThinned with the checkpoint in question.
type ThinnedError = history.ThinnedError

// Thinning says by which rule and when a cleaning has dropped the state of a checkpoint.
type Thinning = history.Thinning
