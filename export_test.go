package cairn

import (
	"context"
	"time"
)

// SetClock makes what is recorded and cleaned from now on count from another time.
func (r *Repo) SetClock(now func() time.Time) { r.now = now }

// SetClean puts something in the place of Clean.
func (r *Repo) SetClean(clean func(context.Context, CleanOptions) (*Cleaned, error)) { r.clean = clean }

// CountCleanings counts the cleanings from now on.
func (r *Repo) CountCleanings() (count func() int) {
	n, clean := 0, r.clean
	r.clean = func(ctx context.Context, opt CleanOptions) (*Cleaned, error) {
		n++
		return clean(ctx, opt)
	}
	return func() int { return n }
}

// SetFreeSpace puts something in the place of the system's answer.
func (r *Repo) SetFreeSpace(free func() (int64, error)) { r.freeSpace = free }

// SetMinFree changes the option of an open Repo.
func (r *Repo) SetMinFree(bytes int64) { r.opt.MinFree = bytes }

// WaitFolded waits until neither the stat cache nor packs are being written anew, nor the
// redo log emptied.
func (r *Repo) WaitFolded() {
	for _, f := range []*folding{&r.watching.base, &r.watching.packs, &r.watching.log} {
		f.wait(r.watching)
	}
}

// wait waits for what is under way, if anything is.
func (f *folding) wait(w *watching) bool {
	w.mu.Lock()
	done := f.done
	w.mu.Unlock()
	if done != nil {
		<-done
	}
	return done != nil
}

// FoldAgain lets a Repo try at once what has failed.
func (r *Repo) FoldAgain() {
	r.watching.mu.Lock()
	defer r.watching.mu.Unlock()
	r.watching.base.failed, r.watching.packs.failed, r.watching.log.failed = time.Time{}, time.Time{}, time.Time{}
}

// SaveWithin says for how long a Repo that watches may put off saving the stat cache from
// now on. What it is waiting to save it looks at again.
func (r *Repo) SaveWithin(d time.Duration) {
	w := r.watching
	w.mu.Lock()
	w.within = d
	stop, done := w.late.stop, w.late.done
	w.mu.Unlock()
	if done != nil {
		stop()
		<-done
	}
}

// WaitSaved waits until nobody is about to save the stat cache any more.
func (r *Repo) WaitSaved() {
	for w := r.watching; w.late.wait(w); {
	}
}

// SaveNow does what a Repo that watches does a little later.
func (r *Repo) SaveNow() error {
	return r.locked(context.Background(), func() error { return r.watching.save(r) })
}

// SetLongWalk says after how many checkpoints a look-up makes an index; 0 switches that
// off, so that all are walked over.
func (r *Repo) SetLongWalk(n int) { r.longWalk = n }

// LongAgo lets a Repo forget when it looked for what the dead leave.
func (r *Repo) LongAgo() { r.tidied = time.Time{} }

// Kept is the stat cache that a Repo keeps, nil for none.
func (r *Repo) Kept() any {
	if r.kept.index == nil {
		return nil
	}
	return r.kept.index
}
