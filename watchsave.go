package cairn

import (
	"context"
	"time"
)

// A Repo that watches saves the stat cache a little later than what it has captured, while
// nobody waits: to save it takes a tenth of a small track. Until then the files are those
// of an earlier capture, as if the process had been killed before the third step of
// publish. Whoever goes by them, another process or the next, reads some files again that
// need not be read, and asks refs/cairn/disk what was captured: see heldEarlier.

// saveWithin is how long the files may be behind.
const saveWithin = 200 * time.Millisecond

// closeWithin is how long Close waits for somebody else who has the lock. If that is not
// enough the files stay behind.
const closeWithin = time.Second

// save saves the stat cache of a capture, or leaves that to watching.commit.
func (c *capture) save(ctx context.Context) error {
	if !c.maySaveLater() {
		return c.repo.saveIndex(ctx, c.index, c.aux())
	}
	c.index.SetPrivate(c.repo.db.KnownPacks(), c.aux())
	return nil
}

// maySaveLater reports whether nothing but time is lost where the stat cache of a capture
// is not saved at once. One of a part of the directory says so in the stat cache; the
// first one has all to lose; and packs that nobody folds are folded by who saves.
func (c *capture) maySaveLater() bool {
	return c.repo.watching != nil && !c.rules.leavesIncomplete() && c.index.Saved() && !c.repo.db.Crowded(patience)
}

// saveSoon begins to wait for the time to save, if the stat cache is behind. It is called
// with w.mu, and once more when that time is over: a capture may have come in between.
func (w *watching) saveSoon(r *Repo) {
	if !w.dirty() || !w.late.idle(w) {
		return
	}
	within := w.within
	w.late.begin(w, func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil // Close saves
		case <-time.After(within):
			return r.locked(ctx, func() error { return w.save(r) })
		}
	}, func(err error) {
		r.logUndone("stat cache not saved")(err)
		w.saveSoon(r)
	})
}

// save saves the stat cache, if it is behind what was captured. It is called with the
// store's lock. Where another process has saved since, the files are for the next capture
// to go by.
func (w *watching) save(r *Repo) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.dirty() {
		return nil
	}
	if w.overtaken(r) {
		w.index = nil
		return nil
	}
	err := w.append(r)
	w.fold(r)
	return err
}

// append saves what has changed. It is called with the store's lock and w.mu.
func (w *watching) append(r *Repo) error {
	err := w.index.Append(r.indexFile())
	w.saved = r.indexState()
	return err
}

// renamePacks is Repo.renamePacks for the stat cache in memory, if nobody has saved since:
// the next capture goes on with that. It is called with the store's lock.
func (w *watching) renamePacks(r *Repo, have, left []string) (done bool, err error) {
	if w == nil {
		return false, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.overtaken(r) || lackedBy(w.index, have) != "" {
		return false, nil
	}
	return true, w.livesIn(r, left)
}

// livesIn has the stat cache, and its files, speak of other packs. It is called as append is.
func (w *watching) livesIn(r *Repo, packs []string) error {
	w.index.SetPrivate(packs, w.index.Aux)
	return w.append(r)
}

// overtaken reports whether another process has saved since, or a capture has failed. It is
// called with w.mu.
func (w *watching) overtaken(r *Repo) bool { return w.index == nil || w.saved != r.indexState() }

// saveLast is what Close does when nothing is under way any more.
func (w *watching) saveLast(r *Repo) {
	if w == nil || !w.behind() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	if err := r.locked(ctx, func() error { return w.save(r) }); err != nil {
		r.log.Info("stat cache not saved", "error", err)
	}
}

// behind reports whether the stat cache is yet to be saved.
func (w *watching) behind() bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dirty()
}

// dirty is behind for who has w.mu.
func (w *watching) dirty() bool { return w.index != nil && w.index.Dirty() }
