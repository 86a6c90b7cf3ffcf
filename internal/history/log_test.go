package history_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
)

// TestInterruptedLog has a log whose context has ended say so every time, and never end as if the
// store had no checkpoint.
func TestInterruptedLog(t *testing.T) {
	t.Parallel()
	f := newPast(t)
	f.track("1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 200 {
		var got error
		for _, err := range f.LogOf(ctx, history.LogOptions{}) {
			got = err
		}
		if !errors.Is(got, context.Canceled) {
			t.Fatalf("the log ended with %v", got)
		}
	}
}
