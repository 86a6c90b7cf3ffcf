package capture

import (
	"context"
	"errors"
	"sync"
	"time"
)

// idleWork is what a Repo that watches puts off until no capture has come for a while: to
// fold packs, and to write the base of the stat cache anew. It is done with the store's
// lock, so that a track that comes meanwhile waits. Where captures never pause, a track
// does it, see patience and index.Append.
type idleWork struct {
	ctx      context.Context
	stop     context.CancelFunc
	running  sync.WaitGroup
	pause    time.Duration // without a capture, after which a Repo is idle
	captured time.Time     // the last capture
	pending  bool          // a goroutine waits for an idle time, or works
	failed   time.Time     // the last try
}

const (
	idleAfter = time.Second
	retryIdle = time.Minute
)

func newIdleWork() idleWork {
	ctx, stop := context.WithCancel(context.Background())
	return idleWork{ctx: ctx, stop: stop, pause: idleAfter}
}

// NewWatching is the watching of a Repo that was just opened. It watches from the first
// capture on.
func NewWatching() *watching { return &watching{idle: newIdleWork()} }

// EndFolding gives up the work, and waits until it has ended.
func (w *watching) EndFolding() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.idle.stop() // from here on foldSoon begins nothing
	w.mu.Unlock()
	w.idle.running.Wait()
}

// foldSoon begins to wait for an idle time if there is work. It is called with w.mu after
// each capture.
func (w *watching) foldSoon(r *Capturer) {
	i := &w.idle
	i.captured = time.Now()
	if i.pending || i.ctx.Err() != nil || time.Since(i.failed) < retryIdle || !r.DB.Crowded(1) && !w.index.Long() {
		return
	}
	i.pending = true
	i.running.Go(func() { w.foldWhenIdle(r) })
}

func (w *watching) foldWhenIdle(r *Capturer) {
	err := w.awaitIdle()
	if err == nil {
		err = r.Locked(w.idle.ctx, func() error { return w.foldNow(r) })
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle.pending = false
	if err != nil && w.idle.ctx.Err() == nil {
		w.idle.failed = time.Now()
		r.Log.Info("neither packs nor stat cache folded", "error", err)
	}
}

// awaitIdle waits until no capture has come for the pause, or until the end.
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

// foldNow folds packs and saves the stat cache, which names them. It is called with the
// store's lock. Where another process has saved meanwhile, the next capture folds.
func (w *watching) foldNow(r *Capturer) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.overtaken(r) {
		return nil
	}
	before := r.DB.PacksChanged()
	_, err := r.DB.Fold(w.idle.ctx)
	r.measured.moved(before, r.DB.PacksChanged())
	w.index.SetPrivate(r.DB.KnownPacks(), w.index.Aux)
	save := w.index.Append
	if w.index.Long() {
		save = w.index.Fold
	}
	err = errors.Join(err, save(r.IndexFile()))
	w.saved = r.indexState()
	return err
}
