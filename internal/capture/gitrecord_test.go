package capture

import (
	"testing"
	"time"
)

// TestGitNoteRetries: what could not be kept is tried again after the pause, and at once where the clock was set back.
func TestGitNoteRetries(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for wait, want := range map[time.Duration]bool{-1: true, 0: true, 1: false, retryAfter: false, retryAfter + 1: true} {
		if n := (&GitNote{Retry: now.Add(wait)}); n.retries(now) != want {
			t.Errorf("a wait of %v: %v", wait, !want)
		}
	}
	if (&GitNote{}).retries(now) {
		t.Error("nothing is to be tried")
	}
}
