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

// FoldNow does what a Repo that watches does when it is idle.
func (r *Repo) FoldNow() error {
	return r.locked(context.Background(), func() error { return r.watching.foldNow(r) })
}

// IdleAfter says after what time without a capture a Repo that watches is idle from now on.
func (r *Repo) IdleAfter(pause time.Duration) {
	r.watching.mu.Lock()
	defer r.watching.mu.Unlock()
	r.watching.idle.pause = pause
}

// WaitIdle waits until the work that was put off is done.
func (r *Repo) WaitIdle() { r.watching.idle.running.Wait() }

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
