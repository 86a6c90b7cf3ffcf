package history_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// TestErrorsNameTheEmptyPath: a message that ends in a colon says nothing.
func TestErrorsNameTheEmptyPath(t *testing.T) {
	t.Parallel()
	r := statetest.NewStore(t)
	statetest.Track(t, r, statetest.NewState(t, r, map[string]string{"a": "a"}))
	if _, err := r.Rel(""); !errors.Is(err, state.ErrOutside) || !strings.HasSuffix(err.Error(), "an empty path") {
		t.Errorf("%v", err)
	}
	if _, _, err := r.OpenFile(context.Background(), "@", "."); !errors.Is(err, state.ErrNotFound) || !strings.Contains(err.Error(), "the root is a directory") {
		t.Errorf("%v", err)
	}
}
