package transfer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// The pause after a failed push grows from firstRetry, twice as long each time, up to lastRetry.
const (
	firstRetry = time.Minute
	lastRetry  = time.Hour
)

// wholeEvery is the time after which Sync sends every line again, moved or not: the remote may have
// lost some.
const wholeEvery = 24 * time.Hour

// markName is the private file that carries the kernel lock of the one push by Sync.
const markName = "pushing"

// Sync pushes the lines that have moved. cairn.Repo.Sync states the contract.
func (r *Transport) Sync(ctx context.Context) (pushed []string, err error) {
	where, err := r.syncRemote()
	if err != nil || where == "" {
		return nil, err
	}
	m, err := r.open(where)
	if err != nil {
		return nil, err
	}
	for {
		more, alone, err := r.syncAlone(ctx, m)
		pushed = append(pushed, more...)
		if err != nil {
			return pushed, fmt.Errorf("push to %s: %w", m, err)
		}
		// A checkpoint that came while the mark was held has found it held, and relies on this look.
		if again, err := r.syncDue(m.url); !alone || !again || err != nil {
			return pushed, err
		}
	}
}

// syncRemote is the remote of the setting, "" for none.
func (r *Transport) syncRemote() (string, error) {
	if r.Opt.Sync == settings.SyncRemembered {
		return r.Remembered()
	}
	if r.Opt.Sync != "" && IsLocal(r.Opt.Sync) {
		return filepath.Abs(r.Opt.Sync) // the name under which pushes are noted
	}
	return r.Opt.Sync, nil
}

// syncAlone pushes unless another process does.
func (r *Transport) syncAlone(ctx context.Context, m *remote) (pushed []string, alone bool, err error) {
	mark, err := r.mark(markName)
	if err != nil {
		return nil, false, err
	}
	if alone, err = mark.TryLock(); err != nil || !alone {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, mark.Close()) }()
	due, err := r.syncDue(m.url)
	if err != nil || !due {
		return nil, true, err
	}
	pushed, err = r.pushNew(ctx, m)
	return pushed, true, err
}

// mark returns the kernel lock of a private file. It is not taken yet.
func (r *Transport) mark(name string) (*flock.Flock, error) {
	if err := r.DB.ClearPrivate(name); err != nil {
		return nil, err
	}
	return flock.New(r.DB.PrivatePath(name), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600)), nil
}

// Pushes reports whether a process pushes by Sync for the store in a directory. A checkpoint that the
// store has before the call goes with it, because it looks again when it has pushed. If the answer is
// false, the caller begins a push: another process that found the mark held meanwhile relies on it.
func Pushes(store string) bool {
	mark := flock.New(filepath.Join(store, "cairn", markName), flock.SetFlag(os.O_RDWR))
	free, err := mark.TryLock()
	return errors.Join(err, mark.Close()) == nil && !free
}

// syncDue reports whether there is something to push, and no pause after a failure. A damaged line is not pushed, so
// it is not due either.
func (r *Transport) syncDue(where string) (bool, error) {
	s := r.standingOf(where)
	if now := r.Now(); now.Before(s.retry(now)) {
		return false, nil
	}
	refs, err := r.ownRefs()
	for _, ref := range refs {
		if err == nil && !s.has(ref) && r.sound(ref) == nil {
			return true, nil
		}
	}
	return false, err
}

// retry is when the pause after a failure is over. A failure in the future is that of another clock, and no pause.
func (s *standing) retry(now time.Time) time.Time {
	if s.Failed == 0 || s.Tried.After(now) {
		return time.Time{}
	}
	return s.Tried.Add(min(lastRetry, firstRetry<<min(s.Failed-1, 10)))
}

// has reports whether a line was pushed as it is, or the remote was asked to take it.
func (s *standing) has(ref odb.Ref) bool {
	return s.Tips[strings.TrimPrefix(ref.Name, history.RefRoot)] == ref.ID.String()
}

// lacks reports whether the remote does not have a line as it is.
func (s *standing) lacks(ref odb.Ref) bool {
	return !s.has(ref) || slices.Contains(s.Left, strings.TrimPrefix(ref.Name, history.RefRoot))
}

// pushNew pushes the lines that have moved since the last push, and every line once a day.
func (r *Transport) pushNew(ctx context.Context, m *remote) (pushed []string, err error) {
	began, before := r.Now().UTC(), r.standingOf(m.url)
	lines, err := r.ownLines()
	if err != nil {
		return nil, err
	}
	whole := began.Sub(before.Whole).Abs() >= wholeEvery // one in the future is that of another clock
	wanted := func(ref odb.Ref) bool { return whole || !before.has(ref) }
	m.left = nil
	for _, ref := range lines {
		if !wanted(ref) && before.lacks(ref) {
			m.leave(strings.TrimPrefix(ref.Name, history.RefRoot))
		}
	}
	pushed, err = r.pushTo(ctx, m, lines, whole, wanted)
	now := succeeded(began, lines, m.left)
	switch {
	case ctx.Err() != nil:
		return pushed, err
	case err != nil:
		now = before.failed(began, err)
	case !whole:
		now.Whole = before.Whole
	}
	return pushed, errors.Join(err, r.noteStanding(m.url, now))
}
