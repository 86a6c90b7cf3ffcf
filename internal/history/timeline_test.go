package history_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/history"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
)

// A timeline that lacks a part of the history says so: blame takes changes of its steps for the user's.
func TestTimelineTellsOfWhatItLacks(t *testing.T) {
	t.Parallel()
	ref := history.RefTracks + "*"
	for name, c := range map[string]struct {
		ref  string // what the ref of the line holds, "" = as it was
		lost bool   // the first checkpoint
		want string // of the warning, "" for none
		left int    // moments
	}{
		"nothing":             {left: 2},
		"a ref without an id": {ref: "no id\n", want: "line left out"},
		"the tip of a line":   {ref: strings.Repeat("1", 40) + "\n", want: "older part of a line left out"},
		"an older checkpoint": {lost: true, want: "older part of a line left out", left: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPast(t)
			f.track("1")
			first := f.files("objects/pack/*")
			f.track("2")
			for _, file := range first {
				if c.lost {
					os.Remove(file)
				}
			}
			for _, file := range f.files(ref) {
				if c.ref != "" && os.WriteFile(file, []byte(c.ref), 0o600) != nil {
					t.Fatal("not written")
				}
			}
			var said bytes.Buffer
			store := statetest.Reopen(t, f.Store)
			store.Log = slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))
			all, err := store.Timeline(t.Context())
			if err != nil || len(all) != c.left {
				t.Errorf("%d moments, want %d, %v", len(all), c.left, err)
			}
			if said.Len() > 0 != (c.want != "") || !strings.Contains(said.String(), c.want) {
				t.Errorf("said %q, want %q", said.String(), c.want)
			}
		})
	}
}

// files lists files of the store by pattern.
func (f *past) files(pattern string) []string {
	f.Helper()
	list, err := filepath.Glob(filepath.Join(f.DB.Dir(), filepath.FromSlash(pattern)))
	if err != nil || len(list) == 0 {
		f.Fatalf("no %s in the store: %v", pattern, err)
	}
	return list
}
