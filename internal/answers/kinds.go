package answers

import (
	"errors"
	"net/http"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/protocol"
	"github.com/seed-fb9cbc17/cairn/session"
)

// byError maps errors of the library to statuses and kinds. The first match counts.
var byError = []struct {
	err    error
	status int
	kind   protocol.Kind
}{
	{session.ErrExpired, http.StatusGone, protocol.Expired},
	{session.ErrBusy, http.StatusConflict, protocol.Busy},
	{session.ErrFetched, http.StatusConflict, protocol.Refused},
	{session.ErrID, http.StatusBadRequest, protocol.BadID},
	{cairn.ErrNotFound, http.StatusNotFound, protocol.NotFound},
	{cairn.ErrAmbiguous, http.StatusBadRequest, protocol.Ambiguous},
	{cairn.ErrOutside, http.StatusBadRequest, protocol.Outside},
	{cairn.ErrName, http.StatusBadRequest, protocol.BadName},
	{cairn.ErrMessage, http.StatusBadRequest, protocol.BadRequest},
	{cairn.ErrPlace, http.StatusBadRequest, protocol.BadPlace},
	{cairn.ErrExists, http.StatusConflict, protocol.Exists},
	{cairn.ErrMoved, http.StatusConflict, protocol.Moved},
	{cairn.ErrUnmerged, http.StatusConflict, protocol.Refused},
	{cairn.ErrGitNotPlanned, http.StatusConflict, protocol.Refused},
	{cairn.ErrGitRefused, http.StatusConflict, protocol.Refused},
	{cairn.ErrWorktree, http.StatusConflict, protocol.Refused},
	{cairn.ErrConflict, http.StatusConflict, protocol.Conflict},
	{cairn.ErrSealed, http.StatusLocked, protocol.Sealed},
	{cairn.ErrLocked, http.StatusConflict, protocol.Locked},
	{cairn.ErrBusy, http.StatusConflict, protocol.Locked},
	{cairn.ErrTooLarge, http.StatusConflict, protocol.Refused},
	{cairn.ErrSecrets, http.StatusConflict, protocol.Secrets},
	{cairn.ErrNoSpace, http.StatusInsufficientStorage, protocol.Refused},
	{cairn.ErrDisabled, http.StatusConflict, protocol.Disabled},
	{cairn.ErrNoKey, http.StatusConflict, protocol.Refused},
	{cairn.ErrNoRemote, http.StatusConflict, protocol.NoRemote},
	{cairn.ErrNoGit, http.StatusConflict, protocol.NoGit},
	{cairn.ErrStalled, http.StatusGatewayTimeout, protocol.Unreachable},
	{cairn.ErrDeadline, http.StatusConflict, protocol.Deadline},
	{cairn.ErrOtherRoot, http.StatusConflict, protocol.Refused},
	{cairn.ErrRoot, http.StatusNotFound, protocol.BadRoot},
}

// KindOf returns the status of HTTP and the kind of problem for an error of the library. An unknown error is a 500
// of kind Internal.
func KindOf(err error) (status int, kind protocol.Kind, known bool) {
	for _, b := range byError {
		if errors.Is(err, b.err) {
			return b.status, b.kind, true
		}
	}
	return http.StatusInternalServerError, protocol.Internal, false
}
