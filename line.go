package cairn

import (
	"context"
	"iter"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
)

// LineRef returns the ref under which the line of an id lies in the store, for
// instance for git log. The id may be any text but the empty one.
func LineRef(id string) string { return history.LineRef(id) }

// LineEvent is one checkpoint of a line with records. Such a line tells the history of a root in
// one context, for instance in an agent's session. The owner of the line appends a record of its
// own to each checkpoint. Package cairn keeps the states. A revert changes the disk and the line as
// one.
type LineEvent = history.LineEvent

// TakeBack describes a revert of steps of a line.
type TakeBack = operation.TakeBack

// LineUpdate changes lines while the store is locked. All its captures are the same: the disk at
// the first of them.
type LineUpdate = operation.LineUpdate

// LineAppend describes a checkpoint to append to a line.
type LineAppend = operation.LineAppend

// UndoneStep is a step to take back, with the known authors of its changes. An empty To means that
// the step has not ended.
type UndoneStep = operation.UndoneStep

// Hint names paths that a step was about to change, at a checkpoint within the step. For an ignored
// file this is its first known state.
type Hint = operation.Hint

// LineTip returns the newest checkpoint of a line. The error wraps ErrNotFound where
// there is no such line, and ErrCorrupt where the store has lost the checkpoint.
func (r *Repo) LineTip(id string) (*LineEvent, error) {
	return r.store.LineTip(id)
}

// LineEvent returns a checkpoint by its full id, with the record of its line.
func (r *Repo) LineEvent(id string) (*LineEvent, error) {
	return r.store.LineEvent(id)
}

// LineEnds returns the first checkpoints of the lines whose older checkpoints were cleaned away.
func (r *Repo) LineEnds(ctx context.Context) ([]*LineEvent, error) {
	return r.store.LineEnds(ctx)
}

// LineTips returns the newest checkpoint of every line with records. Lines that
// cannot be read are left out and logged.
func (r *Repo) LineTips(ctx context.Context) ([]*LineEvent, error) {
	return r.store.LineTips(ctx)
}

// Line yields a checkpoint of a line and those before it, newest first. If older ones were cleaned
// away, the last error wraps ErrNotFound.
func (r *Repo) Line(ctx context.Context, from string) iter.Seq2[*LineEvent, error] {
	return r.store.Line(ctx, from)
}

// Undone reports for some operations whether they are undone at present. An operation is named by
// the checkpoint after it. An operation that was cleaned away counts as not undone.
func (r *Repo) Undone(ctx context.Context, after ...string) (map[string]bool, error) {
	return r.store.Undone(ctx, after...)
}

// UpdateLines calls f with the store locked. Every append in f is complete when it returns, so an
// error of f undoes nothing. f must not call methods of the Repo that capture the disk. If f finds
// no space and a cleaning makes some, f is called again.
func (r *Repo) UpdateLines(ctx context.Context, f func(*LineUpdate) error) error {
	return r.operator.UpdateLines(ctx, f)
}
