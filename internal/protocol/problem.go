package protocol

import "strings"

// Kind tells problems of one status apart.
type Kind string

// The kinds of problems.
const (
	BadRequest   Kind = "bad-request"  // 400: the field is named
	Unauthorized Kind = "unauthorized" // 401
	Forbidden    Kind = "forbidden"    // 403: another site or host
	ReadOnly     Kind = "read-only"    // 403: the server shows a remote, which no request changes
	NotFound     Kind = "not-found"    // 404: session, message, checkpoint, path
	Unregistered Kind = "unregistered" // 404: no such project; POST /projects makes it known
	Expired      Kind = "expired"      // 410: cleaned away
	BadRoot      Kind = "root"         // 404: the directory is gone or cannot be used
	Ambiguous    Kind = "ambiguous"    // 400: a prefix that several checkpoints share
	Outside      Kind = "outside"      // 400: a path that leads out of the root
	BadName      Kind = "name"         // 400: of a pin
	BadID        Kind = "id"           // 400: of a session, message or step
	BadPlace     Kind = "place"        // 400: a copy cannot be made at this path
	Busy         Kind = "busy"         // 409: a step is open, or another call goes back just now
	Sealed       Kind = "sealed"       // 423: the store is encrypted, and was not opened
	Locked       Kind = "locked"       // 409: another process holds the store
	Conflict     Kind = "conflict"     // 409: the policy is fail and there was one
	Moved        Kind = "moved"        // 409: the disk is not what it was when the plan was made
	Exists       Kind = "exists"       // 409: the name is taken
	Refused      Kind = "refused"      // 409: the directory is too large, or the session was fetched; 507: the disk is too full
	Secrets      Kind = "secrets"      // 409: files hold secrets, and the settings refuse checkpoints of them
	Disabled     Kind = "disabled"     // 409: capturing is switched off for the project
	NoRemote     Kind = "no-remote"    // 409: no push has gone to a remote, and no setting names one
	NoGit        Kind = "no-git"       // 409: push and fetch need a git program
	Deadline     Kind = "deadline"     // 409: time ran out
	Mismatch     Kind = "settings"     // 412: the caller has other settings or is another build
	TooLarge     Kind = "too-large"    // 413: the body
	TooMany      Kind = "too-many"     // 429
	Internal     Kind = "internal"     // 500
	Unreachable  Kind = "unreachable"  // 502: a remote has failed; 504: it does not get on
)

// kindPrefix makes a kind the URI that a problem document wants.
const kindPrefix = "urn:cairn:problem:"

// URI is the kind as the type of a problem document.
func (k Kind) URI() string { return kindPrefix + string(k) }

// KindOf is the inverse of URI, "" for other types.
func KindOf(uri string) Kind {
	kind, ok := strings.CutPrefix(uri, kindPrefix)
	if !ok {
		return ""
	}
	return Kind(kind)
}
