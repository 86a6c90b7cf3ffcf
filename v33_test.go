package cairn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// TestV33_OvertakenJobsAreNotLogged: a background job that another process has overtaken
// needs no action, so that a server says nothing of it at its usual level.
func TestV33_OvertakenJobsAreNotLogged(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	r := newRepo(Options{Logger: slog.New(slog.NewTextHandler(&text, nil))}, t.TempDir(), &surroundings{})
	ended := r.logUndone("packs not folded")
	for _, err := range []error{nil, index.ErrOvertaken, fmt.Errorf("fold: %w", index.ErrOvertaken), context.Canceled} {
		ended(err)
	}
	if text.Len() > 0 {
		t.Errorf("logged: %s", text.String())
	}
	if ended(errors.New("disk is gone")); !strings.Contains(text.String(), "disk is gone") {
		t.Errorf("a failure is not logged: %q", text.String())
	}
}
