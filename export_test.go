package cairn

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// SetClean puts something in the place of Clean.
func (r *Repo) SetClean(clean func(context.Context, CleanOptions) (*CleanResult, error)) {
	r.cleaner.RunClean = clean
}

// CountCleanings counts the cleanings from now on.
func (r *Repo) CountCleanings() (count func() int) {
	n, clean := 0, r.cleaner.RunClean
	r.cleaner.RunClean = func(ctx context.Context, opt CleanOptions) (*CleanResult, error) {
		n++
		return clean(ctx, opt)
	}
	return func() int { return n }
}

// SetFreeSpace puts something in the place of the system's answer.
func (r *Repo) SetFreeSpace(free func() (int64, error)) { r.store.FreeSpace = free }

// SetMinFree changes the limit of an open Repo; 0 = none.
func (r *Repo) SetMinFree(bytes int64) { r.store.Room.MinFree = bytes }

// FoldNow does what a Repo that watches does when it is idle.
func (r *Repo) FoldNow() error {
	return r.capturer.FoldNow()
}

// IdleAfter says after what time without a capture a Repo that watches is idle from now on.
func (r *Repo) IdleAfter(pause time.Duration) { r.capturer.IdleAfter(pause) }

// WaitIdle waits until the work that was put off is done.
func (r *Repo) WaitIdle() { r.capturer.WaitIdle() }

// LongAgo lets a Repo forget when it looked for leftovers.
func (r *Repo) LongAgo() error {
	return r.store.Locked(context.Background(), func(l *history.Locked) error { l.Untidy(); return nil })
}

// Kept is the stat cache that a Repo keeps, nil for none.
func (r *Repo) Kept() any {
	if x := r.capturer.KeptIndex(); x != nil {
		return x
	}
	return nil
}
