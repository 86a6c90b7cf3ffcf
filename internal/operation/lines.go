package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/plan"
	"github.com/seed-fb9cbc17/cairn/internal/state"
)

// LineEvent is one checkpoint of a line, with its record.
type LineEvent = history.LineEvent

// LineTip is the newest checkpoint of a line, or why it cannot be read.
type LineTip = history.Tip

// Machine says whose the fetched lines of a store are.
type Machine = history.Machine

// FetchedLine is the newest checkpoint of a line that another store has pushed.
type FetchedLine = history.FetchedLine

// Step is the work of one session, or of one operation, between two checkpoints.
type Step = plan.Step

// LineRef returns the ref of a line. The id may be any text but the empty one.
func LineRef(id string) string { return history.LineRef(id) }

// Lines are the lines with records in one store. Such a line tells the history of a root in one
// context, for instance in an agent's session. The owner of a line appends a record of its own to
// each checkpoint. A revert changes the disk and the line as one.
type Lines struct{ operator *Operator }

// NewLines returns the lines of the Operator's store.
func NewLines(o *Operator) Lines { return Lines{o} }

// NoPrompts reports whether records hold no prompts, titles and commands.
func (l Lines) NoPrompts() bool { return l.operator.Opt.NoPrompts }

// NoMask reports whether records hold secrets of prompts, titles and commands.
func (l Lines) NoMask() bool { return l.operator.Opt.NoMask }

// Elsewhere lists those of several roots that are not this one, where they lie now.
func (l Lines) Elsewhere(roots []string) []string { return l.operator.Elsewhere(roots) }

// NextToTakeBack is the operation that an undo, or a redo, takes back, nil for none; see
// RevertOptions.PassSessions, RevertOptions.Git and RevertOptions.Outside.
func (l Lines) NextToTakeBack(ctx context.Context, kind string, passSessions bool, beyond history.Beyond) (*history.Operation, error) {
	return l.operator.NextToTakeBack(ctx, kind, passSessions, beyond)
}

// When returns the time of an operation as the present clock has it; see history.Store.When.
func (l Lines) When(op *history.Operation) time.Time { return l.operator.When(op) }

// Recorded returns the result of the operation with a token; see Operator.Recorded.
func (l Lines) Recorded(ctx context.Context, token string) (*Result, error) {
	return l.operator.Recorded(ctx, token)
}

// FinishInterrupted finishes the operation of a dead process; see Operator.FinishInterrupted.
func (l Lines) FinishInterrupted(ctx context.Context) error {
	return l.operator.FinishInterrupted(ctx)
}

// GitMoved reports whether the user's git repository differs between two checkpoints; to may be "" for
// the present state.
func (l Lines) GitMoved(ctx context.Context, from, to string) (bool, error) {
	m, gone, err := l.operator.GitMovement(ctx, from, to)
	return gone || m != nil && !m.None(), err
}

// MovedBy returns the event that an operation appended to a line, nil for an operation that moved
// no line.
func (l Lines) MovedBy(op *history.Operation) (*LineEvent, error) {
	if moved, err := l.operator.MovedLine(op); err != nil || !moved {
		return nil, err
	}
	return l.Event(op.After)
}

// Origin returns the operation that another one took back or brought back, directly or through
// further ones: itself where it took none back, nil where one of them was cleaned away.
func (l Lines) Origin(op *history.Operation) (*history.Operation, error) {
	return l.operator.Origin(op)
}

// Tip returns the newest checkpoint of a line. The error wraps ErrNotFound where there is no such
// line, and ErrCorrupt where the store has lost the checkpoint.
func (l Lines) Tip(id string) (*LineEvent, error) { return l.operator.LineTip(id) }

// Tips returns the newest checkpoint of every line. One that the caller knows by its id is not read.
func (l Lines) Tips(ctx context.Context, known func(id string) bool) ([]LineTip, error) {
	return l.operator.LineTips(ctx, known)
}

// FetchedTip returns the newest checkpoint of a line that another store has pushed, ErrNotFound where
// there is none. Of several lines it is that with the newest checkpoint that is not idle. With a store, its
// lines alone count.
func (l Lines) FetchedTip(ctx context.Context, id, store string, idle func(*LineEvent) bool) (history.FetchedLine, error) {
	return l.operator.FetchedTip(ctx, id, store, idle)
}

// Replaced returns a function that reports whether this store has replaced a checkpoint, as a purge does.
func (l Lines) Replaced() func(id string) bool {
	all := l.operator.ReadReplaced()
	return func(id string) bool {
		parsed, err := object.ParseID(id)
		_, ok := all[parsed]
		return err == nil && ok
	}
}

// LastWork returns the newest checkpoint of a line that is not idle, the oldest one where all are.
func (l Lines) LastWork(ctx context.Context, tip *LineEvent, idle func(*LineEvent) bool) *LineEvent {
	return l.operator.LastWork(ctx, tip, idle)
}

// FetchedTips returns the newest checkpoint of every line that other stores have pushed.
func (l Lines) FetchedTips(ctx context.Context, known func(id string) *LineEvent) ([]history.FetchedLine, error) {
	return l.operator.FetchedTips(ctx, known)
}

// Ends returns the first checkpoints of the lines whose older checkpoints were cleaned away.
func (l Lines) Ends(ctx context.Context) ([]*LineEvent, error) { return l.operator.LineEnds(ctx) }

// Event returns a checkpoint by its full id, with the record of its line.
func (l Lines) Event(id string) (*LineEvent, error) { return l.operator.LineEvent(id) }

// Back yields a checkpoint of a line and those before it, newest first. If older ones were cleaned
// away, the last error wraps ErrNotFound.
func (l Lines) Back(ctx context.Context, from string) iter.Seq2[*LineEvent, error] {
	return l.operator.Line(ctx, from)
}

// ForkedAt returns the directory in which the history of a time happened, in nanoseconds since 1970, where that is not
// the one of the store: the store is that of a fork.
func (l Lines) ForkedAt(at int64) string { return l.operator.ForkedAt(at) }

// ForkStart returns the state that the first directory had when a fork was made of it, and the time. It returns nil
// where the store is not that of a fork, where that began with another state, and where the checkpoint is lost.
func (l Lines) ForkStart() (c *history.Checkpoint, at int64) { return l.operator.ForkStart() }

// LossOf says how a repair has removed a line, "" if no repair has.
func (l Lines) LossOf(id string) string { return l.operator.LossOf(LineRef(id)) }

// Undone reports for some operations whether they are undone at present. An operation is named by
// the checkpoint after it. An operation that was cleaned away counts as not undone.
func (l Lines) Undone(ctx context.Context, after ...string) (map[string]bool, error) {
	return l.operator.Undone(ctx, after...)
}

// StepChanges lists the changes of some steps by path: from the state before the first step that
// changed a path to the state after the last. It leaves out changes of others, and changes that are
// shared with others.
func (l Lines) StepChanges(ctx context.Context, steps []UndoneStep) ([]history.Change, error) {
	return l.operator.StepChanges(ctx, steps)
}

// OwnChanges lists what some steps changed themselves, without what others changed between them.
func (l Lines) OwnChanges(ctx context.Context, steps []UndoneStep) (*OwnChanges, error) {
	return l.operator.OwnChanges(ctx, steps)
}

// StepWays lists the changes of some steps by path, as StepChanges does, but each path with all its
// changes, the oldest first. Steps with no other change between them count as one. left lists the
// changes that do not belong to the steps alone.
func (l Lines) StepWays(ctx context.Context, steps []UndoneStep) (ways [][]history.Change, left []state.PathReason, err error) {
	return l.operator.StepWays(ctx, steps)
}

// OpenBlob opens the contents of a captured file, or the target of a symlink, by its id.
func (l Lines) OpenBlob(id string) (size int64, content io.ReadCloser, err error) {
	return l.operator.OpenBlob(id)
}

// Update calls f with the store locked. Every append in f is complete when it returns, so an error
// of f undoes nothing. f must not call methods of the Repo that capture the disk. If f finds no
// space and a cleaning makes some, f is called again.
func (l Lines) Update(ctx context.Context, f func(*LineUpdate) error) error {
	return l.operator.UpdateLines(ctx, f)
}

// ShareOf returns the share that the root has in an operation of several roots, nil for none.
func (l Lines) ShareOf(ctx context.Context, id string) (*history.Operation, error) {
	op, _, err := l.operator.ShareOf(ctx, id)
	return op, err
}

// RootAt returns the directory in which the history of a time happened, in nanoseconds since 1970. It is
// "" for the root; a fork has the history of another one.
func (l Lines) RootAt(at int64) string { return l.operator.RootAt(at) }

// LeavesOut reports whether captures leave out a directory below the root, whatever comes to be in it.
func (l Lines) LeavesOut(ctx context.Context, dir string) (out bool, err error) {
	path, err := l.operator.Rel(dir)
	if err != nil {
		return false, err
	}
	err = l.operator.Exclusive(ctx, func(locked *history.Locked) (err error) {
		out, err = l.operator.LeavesOut(locked, path)
		return err
	})
	return out, err
}

// Outside reports whether a path, absolute or from the root, lies outside the root.
func (l Lines) Outside(path string) bool {
	_, err := l.operator.Rel(path)
	return err != nil
}

// addLineCommit writes a checkpoint of a line into a batch.
func (r *Operator) addLineCommit(b *odb.Batch, s state.State, parents []object.ID, label history.StateLabel, rec *history.LineRecord) (object.ID, error) {
	meta, err := s.Meta.Encode()
	if err != nil {
		return object.ID{}, err
	}
	when := r.Now()
	rec.Version, rec.At = history.LineVersion, when.UnixNano()
	value, err := json.Marshal(rec)
	if err != nil {
		return object.ID{}, fmt.Errorf("record of a line: %w", err)
	}
	if label.Author == "" {
		label.Author = history.DefaultAuthor
	}
	return history.AddCommit(b, history.CommitRequest{
		Tree: s.Tree, Meta: meta, Parents: parents, Message: label.Message, When: when,
		Author: object.Signature{Name: label.Author, Email: history.Identity.Email},
		Extra:  []object.Header{{Key: history.LineHeader, Value: string(value)}},
	})
}
