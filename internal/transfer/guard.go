package transfer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/git"
	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// ErrStalled: a remote has not got on with a push or a fetch for the time of Options.RemoteTimeout.
// Nothing of the fetch is in the store.
var ErrStalled = errors.New("the remote does not get on")

// guardEvery is the time between two looks at a git command that speaks to a remote.
const guardEvery = time.Second

// guard ends a git command that makes no progress, or that leaves too little room on the disk.
//
// Progress is what arrives: the files below dir grow, or git reports another number of objects that it
// has received or sent. What a remote says is none, because a hostile one can go on talking for ever.
type guard struct {
	patience int              // looks without progress after which the command ends; 0 = any number
	dir      string           // where git writes what it receives
	room     func() error     // whether the disk has room; nil = not looked at
	ticks    <-chan time.Time // a look at each
	spoken   atomic.Int64     // reports of git's own
}

// watch looks at each tick until ctx ends, and cancels with the reason.
func (g *guard) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	seen, idle := int64(-1), 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.ticks:
		}
		if g.room != nil {
			if err := g.room(); err != nil {
				cancel(err)
				return
			}
		}
		now := g.spoken.Load() + sizeBelow(g.dir)
		if now != seen {
			seen, idle = now, 0
			continue
		}
		if idle++; idle == g.patience {
			cancel(ErrStalled)
			return
		}
	}
}

// sizeBelow adds up the sizes of the files below a directory. Files that vanish count nothing.
func sizeBelow(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		total++
		if info, err := e.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}

// progress is git's report of what it does itself. tell may be nil.
func (g *guard) progress(tell git.Progress) git.Progress {
	last := ""
	return func(phase string, done, total int, bytes int64) {
		if now := fmt.Sprint(phase, done, bytes); now != last {
			last = now
			g.spoken.Add(1)
		}
		if tell != nil {
			tell(phase, done, total, bytes)
		}
	}
}

// listens takes in what git says. The progress that a remote says it makes is shown, and does not count.
func (g *guard) listens(tell git.Progress) git.Talk {
	shown := tell
	if shown == nil {
		shown = func(string, int, int, int64) {}
	}
	return git.Talk{Tell: g.progress(tell), Remote: shown}
}

// guarded starts a guard of a command in gitDir. end stops it and returns the reason for which it has
// ended the command, nil for none.
func (m *remote) guarded(ctx context.Context, gitDir string) (_ context.Context, g *guard, end func() error) {
	ctx, cancel := context.WithCancelCause(ctx)
	g = &guard{dir: filepath.Join(gitDir, "objects"), room: m.room, ticks: m.ticks}
	stop := func() {}
	if g.ticks == nil {
		t := time.NewTicker(guardEvery)
		g.ticks, stop = t.C, t.Stop
	}
	if m.timeout > 0 {
		g.patience = int((m.timeout + guardEvery - 1) / guardEvery)
	}
	done := make(chan struct{})
	go func() { defer close(done); g.watch(ctx, cancel) }()
	return ctx, g, func() error {
		cause := context.Cause(ctx)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cause = ctx.Err() // whatever the cause that the caller has given the deadline
		}
		cancel(nil)
		<-done
		stop()
		if errors.Is(cause, ErrStalled) {
			cause = fmt.Errorf("%w: nothing has come or gone for %v (%s)", ErrStalled, m.timeout, m.limit)
		}
		return cause
	}
}

// roomFor returns a check that the disk keeps the bytes free that the store leaves free. A fetch that
// would take more ends: what a remote sends may be a bomb.
func (r *Transport) roomFor() func() error {
	least := int64(settings.DefaultMinFree)
	if keep := r.Opt.Retention; keep != nil && keep.MinFree != 0 {
		least = keep.MinFree
	}
	if r.Opt.Retention == nil || least < 0 {
		return nil
	}
	return func() error {
		free, err := r.freeSpace()
		if err != nil || free >= least {
			return nil // a file system that does not tell has no limit
		}
		return fmt.Errorf("%w: what the remote sends leaves %s of the disk, and %s stay free (min_free_bytes)", state.ErrNoSpace, wording.Size(free), wording.Size(least))
	}
}

// explain adds to an error of git what it means here.
func explain(text string) string {
	if strings.Contains(text, "over limit") {
		return "what the remote sends needs more memory than " + maxExpandedText + " for one object: " + text
	}
	return text
}
