package capture

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// idleWork is the work that a watching Repo delays until no capture has come for a while: folding
// packs and rewriting the base of the stat cache. The work holds the store's lock, so a track that
// comes meanwhile waits. If captures never pause, a track does the work (see patience and
// index.Append).
type idleWork struct {
	ctx      context.Context
	stop     context.CancelFunc
	running  sync.WaitGroup
	pause    time.Duration // time without a capture after which a Repo is idle
	captured time.Time     // time of the last capture
	pending  bool          // a goroutine waits for an idle time, or is working
	failed   time.Time     // time of the last failure
}

const (
	idleAfter = time.Second
	retryIdle = time.Minute
)

func newIdleWork() idleWork {
	ctx, stop := context.WithCancel(context.Background())
	return idleWork{ctx: ctx, stop: stop, pause: idleAfter}
}

// NewWatching returns the watching of a Repo that was just opened. The first capture starts the
// watcher.
func NewWatching() *watching { return &watching{idle: newIdleWork()} }

// EndFolding cancels the idle work and waits for its end.
func (w *watching) EndFolding() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.idle.stop() // from here on foldSoon starts nothing
	w.mu.Unlock()
	w.idle.running.Wait()
}

// foldSoon starts to wait for an idle time if there is work. It is called after each capture, with
// w.mu held.
func (w *watching) foldSoon(r *Capturer, x *index.Index) {
	i := &w.idle
	i.captured = time.Now()
	if i.pending || i.ctx.Err() != nil || time.Since(i.failed) < retryIdle || !r.DB.Crowded(1) && !x.Long() {
		return
	}
	i.pending = true
	i.running.Go(func() { w.foldWhenIdle(r) })
}

func (w *watching) foldWhenIdle(r *Capturer) {
	err := w.awaitIdle()
	if err == nil {
		err = r.Locked(w.idle.ctx, func(l *history.Locked) error { return r.foldNow(w.idle.ctx, l) })
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle.pending = false
	if err != nil && w.idle.ctx.Err() == nil {
		w.idle.failed = time.Now()
		r.Log.Info("neither packs nor stat cache folded", "error", err)
	}
}

// awaitIdle waits until no capture has come for the pause, or until EndFolding.
func (w *watching) awaitIdle() error {
	for {
		w.mu.Lock()
		rest := w.idle.pause - time.Since(w.idle.captured)
		w.mu.Unlock()
		if rest <= 0 {
			return nil
		}
		select {
		case <-w.idle.ctx.Done():
			return w.idle.ctx.Err()
		case <-time.After(rest):
		}
	}
}

// foldNow folds packs and saves the stat cache, which names them. It does nothing if another process
// has saved the stat cache; the next capture folds then.
func (r *Capturer) foldNow(ctx context.Context, l *history.Locked) error {
	r.Holds(l)
	if !r.counts(&r.last) {
		return nil
	}
	_, err := r.DB.Fold(ctx)
	x := r.last.index
	x.SetPrivate(r.DB.KnownPacks(), x.Aux)
	save := x.Append
	if x.Long() {
		save = x.Fold
	}
	err = errors.Join(err, save(r.IndexFile()))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.files = r.indexState()
	return err
}
