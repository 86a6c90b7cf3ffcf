package usergit

import (
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/git"
)

// TestEndings: what git may be in the middle of has words, and the next step.
func TestEndings(t *testing.T) {
	t.Parallel()
	for _, p := range git.InProgress {
		if e := endings[p.File]; e.what == "" || e.next == "" {
			t.Errorf("%s has no words", p.File)
		}
	}
	if len(endings) != len(git.InProgress) {
		t.Errorf("%d endings of %d operations", len(endings), len(git.InProgress))
	}
}
