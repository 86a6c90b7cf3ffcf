package cairn

import (
	"context"
	"errors"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// folding is the stat cache's base that a Repo which watches writes anew beside the tracks:
// for half a million files that takes longer than a hundred tracks. The zero value does
// nothing.
type folding struct {
	stop   context.CancelFunc
	done   chan struct{} // nil = none is under way
	failed time.Time     // the last one
	pause  time.Duration // from then on
}

// How long changes pile up after they could not be written anew. Until they are
// as large as in a minute nothing is slower for it. Where somebody has only been faster,
// or has saved something meanwhile, the next try may be good.
const (
	retryFold      = time.Minute
	retryOvertaken = time.Second
)

func pauseAfter(err error) time.Duration {
	if errors.Is(err, index.ErrOvertaken) {
		return retryOvertaken
	}
	return retryFold
}

// idle reports whether it may begin: it is not under way, and has not failed just now.
func (f *folding) idle(w *watching) bool {
	return f.done == nil && !w.closed && time.Since(f.failed) >= f.pause
}

// begin runs work, and then ended, unless the Repo is being closed. Both begin and ended are
// called with w.mu.
func (f *folding) begin(w *watching, work func(context.Context) error, ended func(error)) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	f.stop, f.done = stop, done
	go func() {
		defer close(done)
		defer stop()
		err := work(ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		f.stop, f.done = nil, nil
		if w.closed {
			return
		}
		if err != nil {
			f.failed, f.pause = time.Now(), pauseAfter(err)
		}
		ended(err)
	}()
}

// logUndone logs the failure of a background job. A job that another process has
// overtaken is no failure: the next one begins with what that process left.
func (r *Repo) logUndone(what string) (ended func(error)) {
	return func(err error) {
		switch {
		case err == nil:
		case errors.Is(err, index.ErrOvertaken), errors.Is(err, context.Canceled):
			r.log.Debug(what, "error", err)
		default:
			r.log.Info(what, "error", err)
		}
	}
}

// end gives up what is being written, and waits until that is gone.
func (f *folding) end(w *watching) {
	w.mu.Lock()
	w.closed = true
	stop, done := f.stop, f.done
	w.mu.Unlock()
	if done != nil {
		stop()
		<-done
	}
}

// fold begins to write anew what has become long, beside the tracks. It is called with the store's lock and w.mu.
func (w *watching) fold(r *Repo) {
	if w.index.Long() && !w.index.Dirty() && w.base.idle(w) {
		aside := w.index.Aside(r.indexFile())
		w.base.begin(w, func(ctx context.Context) error { return w.foldBase(ctx, r, aside) }, r.logUndone("stat cache not written anew"))
	}
}

func (w *watching) foldBase(ctx context.Context, r *Repo, aside *index.Aside) error {
	defer aside.Close()
	if err := aside.Write(ctx, !r.opt.NoSync); err != nil {
		return err
	}
	return r.locked(ctx, func() error { return w.install(r, aside) })
}

// install puts the new base in place, with the store's lock. Then nobody else saves,
// and no capture of this Repo is under way; where another process has saved since the
// last one was, the files are for that to go on with.
func (w *watching) install(r *Repo, aside *index.Aside) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.overtaken(r) {
		return index.ErrOvertaken
	}
	err := aside.Install(w.index)
	w.saved = r.indexState()
	return err
}

// endFolding gives up what is being written, and waits until that is gone.
func (w *watching) endFolding() {
	if w != nil {
		w.idle.end(w)
		w.base.end(w)
	}
}
