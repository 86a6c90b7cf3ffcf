package cairn

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// folding is the stat cache's base on its way to being written anew. A Repo that
// watches does that while nobody waits for it: for half a million files it takes
// longer than a hundred tracks.
type folding struct {
	stop context.CancelFunc
	done chan struct{}
}

// retryFold is how long the stat cache's changes pile up after its base could not be
// written. Until they are as large as that nothing is slower for it.
const retryFold = time.Minute

// fold begins to write the base anew if it is time. It is called with the store's lock
// and w.mu, when x has just been saved.
func (w *watching) fold(r *Repo, x *index.Index) {
	if w.folding != nil || w.closed || !x.Long() || time.Since(w.unfolded) < retryFold {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &folding{stop, make(chan struct{})}
	w.folding = f
	aside := x.Aside(r.indexFile())
	go func() {
		defer close(f.done)
		defer stop()
		defer aside.Close()
		err := aside.Write(ctx, !r.opt.NoSync)
		if err == nil {
			err = r.locked(ctx, func() error { return w.install(r, aside) })
		}
		w.folded(r, err)
	}()
}

// install puts the new base in place, with the store's lock. Then nobody else saves,
// and no capture of this Repo is under way; where another process has saved since the
// last one was, the files are for that to go on with.
func (w *watching) install(r *Repo, aside *index.Aside) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.index == nil || w.saved != r.indexState() {
		return index.ErrOvertaken
	}
	err := aside.Install(w.index)
	w.saved = r.indexState()
	return err
}

func (w *watching) folded(r *Repo, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.folding = nil
	if err != nil && !w.closed {
		w.unfolded = time.Now()
		r.log.Info("stat cache not written anew", "error", err)
	}
}

// endFolding gives up what is being written, and waits until that is gone.
func (w *watching) endFolding() {
	if w == nil {
		return
	}
	w.mu.Lock()
	w.closed = true
	f := w.folding
	w.mu.Unlock()
	if f != nil {
		f.stop()
		<-f.done
	}
}
