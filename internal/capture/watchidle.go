package capture

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/odb"
)

// idleWork is the work that a watching Repo does beside its captures. Packs are folded as soon as
// there are enough of them: the new pack is written without the store's lock, and a capture waits
// only while it is put in place. The base of the stat cache is rewritten when no capture has come
// for a while, because that takes the lock. If either is late, a capture does it (see patience and
// index.Append).
type idleWork struct {
	ctx      context.Context
	stop     context.CancelFunc
	running  sync.WaitGroup
	pause    time.Duration // time without a capture after which a Repo is idle
	captured time.Time     // time of the last capture

	packs, base job
}

// job is one kind of work.
type job struct {
	pending bool      // a goroutine waits for an idle time, or is working
	failed  time.Time // time of the last failure
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

// foldSoon starts the work that there is. It is called after each capture, with w.mu held.
func (w *watching) foldSoon(r *Capturer, x *index.Index) {
	w.idle.captured = time.Now()
	if r.DB.Crowded(1) {
		w.begin(r, &w.idle.packs, "packs not folded", r.foldPacks)
	}
	if x.Long() {
		w.begin(r, &w.idle.base, "stat cache not rewritten", func(ctx context.Context) error {
			if err := w.awaitIdle(); err != nil {
				return err
			}
			return r.Locked(ctx, r.rewriteIndex)
		})
	}
}

// begin starts a job unless it is under way, or has failed a short time ago. It is called with w.mu
// held.
func (w *watching) begin(r *Capturer, j *job, undone string, work func(context.Context) error) {
	ctx := w.idle.ctx
	if j.pending || ctx.Err() != nil || time.Since(j.failed) < retryIdle {
		return
	}
	j.pending = true
	w.idle.running.Go(func() {
		err := work(ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		j.pending = false
		if err != nil && ctx.Err() == nil {
			j.failed = time.Now()
			r.Log.Info(undone, "error", err)
		}
	})
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

// foldPacks folds one tier after the other. The lock is held only while a new pack is put in place.
func (r *Capturer) foldPacks(ctx context.Context) error {
	for {
		f, err := r.DB.BeginFold(ctx)
		if f == nil {
			return err
		}
		folded := false
		err = r.Locked(ctx, func(l *history.Locked) (err error) {
			folded, err = r.installFold(l, f)
			return err
		})
		f.Discard()
		if err != nil || !folded {
			return err
		}
	}
}

// installFold puts a folded pack in place and saves the stat cache, which names the packs. It does
// nothing if another process has saved the stat cache, or has changed the packs; the next capture
// begins again.
func (r *Capturer) installFold(l *history.Locked, f *odb.Folding) (bool, error) {
	r.Holds(l)
	if !r.counts(&r.last) {
		return false, nil
	}
	ok, err := f.Install()
	if !ok {
		return false, err
	}
	x := r.last.index
	x.SetPrivate(r.DB.KnownPacks(), x.Aux)
	return true, errors.Join(err, r.saveAfter(x.Append))
}

// rewriteIndex rewrites the base of the stat cache, unless another process has saved it.
func (r *Capturer) rewriteIndex(l *history.Locked) error {
	r.Holds(l)
	if x := r.last.index; r.counts(&r.last) && x.Long() {
		return r.saveAfter(x.Fold)
	}
	return nil
}

// saveAfter saves the stat cache beside captures and remembers its files.
func (r *Capturer) saveAfter(save func(index.File) error) error {
	err := save(r.IndexFile())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.files = r.indexState()
	return err
}
