package history

import (
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/settings"
)

// TestLockTimeout: NoLimit waits as long as the caller's context lasts.
func TestLockTimeout(t *testing.T) {
	t.Parallel()
	for timeout, limited := range map[time.Duration]bool{0: true, time.Hour: true, settings.NoLimit: false} {
		ctx, cancel := New(settings.Options{LockTimeout: timeout}, "").Waiting(t.Context())
		if _, ok := ctx.Deadline(); ok != limited || ctx.Err() != nil {
			t.Errorf("timeout %v: limited %v, %v", timeout, ok, ctx.Err())
		}
		cancel()
	}
}
