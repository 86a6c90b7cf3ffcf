package cairn

import (
	"context"
	"errors"
	"sync"
	"time"
)

// idleWork is what a Repo that watches puts off until no capture has come for a while: to
// fold packs. It is done with the store's lock, so that a track that comes meanwhile waits.
// Where captures never pause, a track folds, see patience.
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

// end gives up the work, and waits until it has ended. The caller does not hold w.mu.
func (i *idleWork) end(w *watching) {
	w.mu.Lock()
	i.stop() // from here on foldSoon begins nothing
	w.mu.Unlock()
	i.running.Wait()
}

// foldSoon begins to wait for an idle time if there is work. It is called with w.mu after
// each capture.
func (w *watching) foldSoon(r *Repo) {
	i := &w.idle
	i.captured = time.Now()
	if i.pending || i.ctx.Err() != nil || time.Since(i.failed) < retryIdle || !r.db.Crowded(1) {
		return
	}
	i.pending = true
	i.running.Go(func() { w.foldWhenIdle(r) })
}

func (w *watching) foldWhenIdle(r *Repo) {
	err := w.awaitIdle()
	if err == nil {
		err = r.locked(w.idle.ctx, func() error { return w.foldPacks(r) })
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle.pending = false
	if err != nil && w.idle.ctx.Err() == nil {
		w.idle.failed = time.Now()
		r.log.Info("packs not folded", "error", err)
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

// foldPacks folds, and saves the stat cache, which names the packs. It is called with the
// store's lock. Where another process has saved meanwhile, the next capture folds.
func (w *watching) foldPacks(r *Repo) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.overtaken(r) {
		return nil
	}
	before := r.db.PacksChanged()
	_, err := r.db.Fold(w.idle.ctx)
	r.measured.moved(before, r.db.PacksChanged())
	w.index.SetPrivate(r.db.KnownPacks(), w.index.Aux)
	err = errors.Join(err, w.index.Append(r.indexFile()))
	w.saved = r.indexState()
	return err
}
