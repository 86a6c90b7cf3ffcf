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
func (f *folding) wait(w *watching) {
	w.mu.Lock()
	done := f.done
	w.mu.Unlock()
	if done != nil {
		<-done
	}
}

// FoldAgain lets a Repo try at once what has failed.
func (r *Repo) FoldAgain() {
	r.watching.mu.Lock()
	defer r.watching.mu.Unlock()
	r.watching.base.failed, r.watching.packs.failed, r.watching.log.failed = time.Time{}, time.Time{}, time.Time{}
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
