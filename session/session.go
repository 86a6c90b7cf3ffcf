package session

import (
	"context"
	"errors"
	"iter"

	"github.com/seed-fb9cbc17/cairn"
)

// Sessions are the sessions of one root. It may be used from several goroutines.
type Sessions struct{ repo *cairn.Repo }

// New returns the sessions that lie in the store of a root.
func New(r *cairn.Repo) *Sessions { return &Sessions{repo: r} }

var errNotBuilt = errors.New("not available in this revision")

// Begin records that a session begins. For one that exists it only fills in what it
// lacked: title, parent and new keys of Meta.
func (s *Sessions) Begin(ctx context.Context, b Begin) (*Session, error) { return nil, errNotBuilt }

// AddMessage records a message, for instance the user's prompt. For one that exists
// it adds the parts that are new.
func (s *Sessions) AddMessage(ctx context.Context, m MessageBegin) (*Message, error) {
	return nil, errNotBuilt
}

// BeginStep captures the state before a step and records it. The session and the
// message are begun if they are new. A step that is already there is returned as it
// is. Another step of the session that is still open is ended first: its agent was
// killed. What changed since the last step is the user's.
func (s *Sessions) BeginStep(ctx context.Context, b StepBegin) (*Step, error) {
	return nil, errNotBuilt
}

// Hint notes paths that a tool of a step names, absolute or relative to the root.
// They belong to the step's session when steps of several sessions overlap, and they
// are captured although ignored.
func (s *Sessions) Hint(ctx context.Context, session, step string, paths []string) error {
	return errNotBuilt
}

// EndStep captures the state after a step and records it. A step that has ended
// is returned as it is.
func (s *Sessions) EndStep(ctx context.Context, e StepEnd) (*Step, error) {
	return nil, errNotBuilt
}

// Get returns a session.
func (s *Sessions) Get(ctx context.Context, id string) (*Session, error) { return nil, errNotBuilt }

// List returns all sessions, the one that was changed last first. They come without
// Summary.
func (s *Sessions) List(ctx context.Context) ([]*Session, error) { return nil, errNotBuilt }

// History returns the messages of a session, reverted ones included, in their order.
func (s *Sessions) History(ctx context.Context, id string) ([]Message, error) {
	return nil, errNotBuilt
}

// Delete forgets a session and its children. Files stay as they are.
func (s *Sessions) Delete(ctx context.Context, id string) error { return errNotBuilt }

// Diff yields what a session, a message or a step changed, ordered by path: each
// file from before its first change to after its last.
func (s *Sessions) Diff(ctx context.Context, id string, in Scope) iter.Seq2[*cairn.FileDiff, error] {
	return func(yield func(*cairn.FileDiff, error) bool) { yield(nil, errNotBuilt) }
}

// Revert takes back what the session changed from a target on.
func (s *Sessions) Revert(ctx context.Context, id string, to Target, opt RevertOptions) (*Session, *cairn.Result, error) {
	return nil, nil, errNotBuilt
}

// Unrevert brings back what was reverted.
func (s *Sessions) Unrevert(ctx context.Context, id string, opt RevertOptions) (*Session, *cairn.Result, error) {
	return nil, nil, errNotBuilt
}

// UndoStep reverts the newest turn that is not reverted yet.
func (s *Sessions) UndoStep(ctx context.Context, id string, opt RevertOptions) (*Session, *cairn.Result, error) {
	return nil, nil, errNotBuilt
}

// RedoStep brings the first reverted turn back.
func (s *Sessions) RedoStep(ctx context.Context, id string, opt RevertOptions) (*Session, *cairn.Result, error) {
	return nil, nil, errNotBuilt
}

// Commit makes a revert final: what was reverted leaves the session. BeginStep and
// AddMessage do it, too.
func (s *Sessions) Commit(ctx context.Context, id string) (*Session, error) { return nil, errNotBuilt }

// Fork makes a new session that shares the history before a message; with an empty
// message, all of it. Files stay as they are.
func (s *Sessions) Fork(ctx context.Context, id, message, newID string) (*Session, error) {
	return nil, errNotBuilt
}
