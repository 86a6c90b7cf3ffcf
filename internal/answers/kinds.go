package answers

import (
	"errors"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/session"
)

// byError maps errors of the library to kinds. The first match counts.
var byError = []struct {
	err  error
	kind protocol.Kind
}{
	{session.ErrExpired, protocol.Expired},
	{session.ErrBusy, protocol.Busy},
	{session.ErrFetched, protocol.Refused},
	{session.ErrID, protocol.BadID},
	{cairn.ErrNotFound, protocol.NotFound},
	{cairn.ErrAmbiguous, protocol.Ambiguous},
	{cairn.ErrOutside, protocol.Outside},
	{cairn.ErrName, protocol.BadName},
	{cairn.ErrMessage, protocol.BadRequest},
	{cairn.ErrPlace, protocol.BadPlace},
	{cairn.ErrExists, protocol.Exists},
	{cairn.ErrMoved, protocol.Moved},
	{cairn.ErrUnmerged, protocol.Refused},
	{cairn.ErrGitNotPlanned, protocol.Refused},
	{cairn.ErrGitRefused, protocol.Refused},
	{cairn.ErrWorktree, protocol.Refused},
	{cairn.ErrConflict, protocol.Conflict},
	{cairn.ErrSealed, protocol.Sealed},
	{cairn.ErrLocked, protocol.Locked},
	{cairn.ErrBusy, protocol.Locked},
	{cairn.ErrTooLarge, protocol.Refused},
	{cairn.ErrSecrets, protocol.Secrets},
	{cairn.ErrNoSpace, protocol.Refused},
	{cairn.ErrDisabled, protocol.Disabled},
	{cairn.ErrNoKey, protocol.Refused},
	{cairn.ErrNoRemote, protocol.NoRemote},
	{cairn.ErrNoGit, protocol.NoGit},
	{cairn.ErrStalled, protocol.Unreachable},
	{cairn.ErrDeadline, protocol.Deadline},
	{cairn.ErrOtherRoot, protocol.Refused},
	{cairn.ErrRoot, protocol.BadRoot},
}

// KindOf returns the kind of problem for an error of the library. It is Internal for an unknown one.
func KindOf(err error) protocol.Kind {
	for _, b := range byError {
		if errors.Is(err, b.err) {
			return b.kind
		}
	}
	return protocol.Internal
}
