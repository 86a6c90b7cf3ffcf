package history_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// past is a store whose checkpoints hold one file.
type past struct {
	kept
	testing.TB
}

// kept hides what Store and testing.TB both have.
type kept struct{ *history.Store }

func newPast(t testing.TB) *past { return &past{kept{statetest.NewStore(t)}, t} }

// track adds a checkpoint of the file "a" to the day's line.
func (f *past) track(content string) *history.Checkpoint {
	f.Helper()
	return statetest.Track(f, f.Store, statetest.NewState(f, f.Store, map[string]string{"a": content}))
}

// removeLines removes the lines of days.
func (f *past) removeLines() {
	f.Helper()
	if err := os.RemoveAll(filepath.Join(f.DB.Dir(), filepath.FromSlash(history.RefTracks))); err != nil {
		f.Fatal(err)
	}
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want one that is %v", err, want)
	}
}
