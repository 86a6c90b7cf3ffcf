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

// LineEvent is one checkpoint of a line with records. Such a line tells what
// happened to a root in some context, for instance in a session of an agent. Who
// keeps it appends a record of his own to each checkpoint; package cairn looks after
// the states, and after reverts that move the disk and the line as one.
type LineEvent = history.LineEvent

// TakeBack describes a revert that belongs to a line.
type TakeBack = operation.TakeBack

// LineUpdate changes lines while the store is locked. All its captures are one: the
// disk as it was at the first.
type LineUpdate = operation.LineUpdate

// LineAppend describes a checkpoint to be appended to a line.
type LineAppend = operation.LineAppend

// UndoneStep is a step that is taken back, with what is known about who did what in
// it. An empty To means that it lasts until now.
type UndoneStep = operation.UndoneStep

// Hint names paths that a step was about to change at a checkpoint within it. Of an
// ignored file that is the first that is known.
type Hint = operation.Hint

// LineTip returns the newest checkpoint of a line. The error wraps ErrNotFound where
// there is no such line, and ErrCorrupt where the store has lost the checkpoint.
func (r *Repo) LineTip(id string) (*LineEvent, error) {
	return r.store.LineTip(id)
}

// LineEvent returns a checkpoint by its full id, with what its line tells of it.
func (r *Repo) LineEvent(id string) (*LineEvent, error) {
	return r.store.LineEvent(id)
}

// LineEnds returns the checkpoints with which lines begin whose older checkpoints have
// been cleaned away.
func (r *Repo) LineEnds(ctx context.Context) ([]*LineEvent, error) {
	return r.store.LineEnds(ctx)
}

// LineTips returns the newest checkpoint of every line with records. Lines that
// cannot be read are left out and logged.
func (r *Repo) LineTips(ctx context.Context) ([]*LineEvent, error) {
	return r.store.LineTips(ctx)
}

// Line yields a checkpoint of a line and those before it, newest first. Where older
// ones have been cleaned away the last error wraps ErrNotFound.
func (r *Repo) Line(ctx context.Context, from string) iter.Seq2[*LineEvent, error] {
	return r.store.Line(ctx, from)
}

// Undone tells which of some operations are taken back at present. Operations are
// named by the checkpoints after them; those that have expired count as not undone.
func (r *Repo) Undone(ctx context.Context, after ...string) (map[string]bool, error) {
	return r.store.Undone(ctx, after...)
}

// UpdateLines calls f with the store locked. Every append in f is complete when it
// returns, so an error of f undoes nothing. f must not use the Repo for anything that
// captures the disk. It is called again where there was no space and a cleaning has made
// some.
func (r *Repo) UpdateLines(ctx context.Context, f func(*LineUpdate) error) error {
	return r.operator.UpdateLines(ctx, f)
}
