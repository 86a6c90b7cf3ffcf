// Package access leads from a cairn.Repo to the parts of it that other packages of this module
// need and that callers of the library do not. Package cairn exports nothing for them.
package access

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/operation"
	"github.com/seed-fb9cbc17/cairn/internal/retention"
	"github.com/seed-fb9cbc17/cairn/internal/reviewed"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/transfer"
)

// Inner is embedded in cairn.Repo under a name that is not exported.
type Inner struct {
	lines   operation.Lines
	cleaner *retention.Cleaner
	store   *history.Store

	transport *transfer.Transport
}

// New returns the Inner of a Repo.
func New(o *operation.Operator, c *retention.Cleaner, t *transfer.Transport) Inner {
	return Inner{operation.NewLines(o), c, o.Store, t}
}

func (i Inner) inner() Inner { return i }

// Repo is a cairn.Repo, or a type that embeds one. No other type has the method.
type Repo interface{ inner() Inner }

// Lines returns the lines with records in the store of a Repo, for package session.
func Lines(r Repo) operation.Lines { return r.inner().lines }

// CleaningDue reports whether the last cleaning began at least every ago. It reads one small file.
func CleaningDue(r Repo, every time.Duration) bool { return r.inner().cleaner.Due(every) }

// UnderWay reports whether an operation has begun and is not recorded yet. Its process may be dead. It looks for one
// file.
func UnderWay(r Repo) bool { return r.inner().store.UnderWay() }

// FreeSpace returns the bytes that are free on the disk of the store of a Repo.
func FreeSpace(r Repo) (int64, error) { return r.inner().store.FreeSpace() }

// Pushing reports whether a push in the background goes on that takes along what the store of a root holds now. If
// not, the caller begins one.
func Pushing(dataDir, root string) bool { return transfer.Pushes(state.StorePath(dataDir, root)) }

// Logger returns the logger of a Repo.
func Logger(r Repo) *slog.Logger { return r.inner().store.Log }

// SetClock makes a Repo record and clean as of another time.
func SetClock(r Repo, now func() time.Time) { r.inner().store.Now = now }

// Unpushed returns a function that reports whether the remote that a Repo pushes to lacks the newest state
// of a session. It reports false where there is no such remote.
func Unpushed(r Repo) (func(session string) bool, error) {
	lacks, err := r.inner().transport.Unpushed()
	if err != nil || lacks == nil {
		return func(string) bool { return false }, err
	}
	return func(session string) bool { return lacks(history.LineRef(session)) }, nil
}

// Source returns the remote from which calls that name none fetch: that of Repo.Remote, else that from which something was
// fetched last, "" for none.
func Source(r Repo) (string, error) { return r.inner().transport.Source() }

// FetchNewer fetches what other stores have of a session that is here. It gives up with ErrStalled when the remote does
// not answer within seconds.
func FetchNewer(ctx context.Context, r Repo, where, id string) error {
	return r.inner().transport.FetchNewer(ctx, where, id)
}

// Marks lists the decisions of reviews.
func Marks(r Repo) []reviewed.Mark { return reviewed.Load(r.inner().store) }

// ChangeMarks removes some decisions of reviews and adds others.
func ChangeMarks(ctx context.Context, r Repo, remove, add []reviewed.Mark) error {
	return reviewed.Change(ctx, r.inner().store, remove, add)
}

// ReadDir lists a directory of a checkpoint of a Repo ("" = the root). The error wraps
// state.ErrNotFound for a path that is no directory there.
func ReadDir(r Repo, c *history.Checkpoint, dir string) ([]history.DirEntry, error) {
	return r.inner().store.ReadDir(c, dir)
}

// OpenBlob opens a blob of the store of a Repo. The reader fails at its end if the bytes do not match
// the id.
func OpenBlob(r Repo, id object.ID) (io.ReadCloser, error) {
	_, in, err := history.Source{DB: r.inner().store.DB}.Open(id)
	return in, err
}

// Timeline returns the checkpoints of all lines in the order of their times, the oldest first.
func Timeline(ctx context.Context, r Repo) ([]history.Moment, error) {
	return r.inner().store.Timeline(ctx)
}

// Ancestors returns a checkpoint and those before it on its line, the oldest first.
func Ancestors(ctx context.Context, r Repo, c *history.Checkpoint) ([]history.Moment, error) {
	id, err := object.ParseID(c.ID)
	if err != nil {
		return nil, err
	}
	return r.inner().store.Ancestors(ctx, id)
}
