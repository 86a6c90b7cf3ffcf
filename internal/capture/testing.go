package capture

import (
	"context"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// The functions of this file serve tests of package cairn.

// FoldNow does the idle work of a watching Capturer at once.
func (r *Capturer) FoldNow() error {
	ctx := context.Background()
	if err := r.foldPacks(ctx); err != nil {
		return err
	}
	return r.Locked(ctx, r.rewriteIndex)
}

// IdleAfter sets the time without a capture after which a Capturer is idle.
func (r *Capturer) IdleAfter(pause time.Duration) {
	r.Watch.mu.Lock()
	defer r.Watch.mu.Unlock()
	r.Watch.idle.pause = pause
}

// WaitIdle waits until the idle work is done.
func (r *Capturer) WaitIdle() { r.Watch.idle.running.Wait() }

// KeptIndex returns the stat cache that the Capturer keeps in memory, nil for none.
func (r *Capturer) KeptIndex() *index.Index { return r.last.index }
