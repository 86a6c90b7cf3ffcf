package capture

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/settings"
	"github.com/seed-fb9cbc17/cairn/internal/state"
	"github.com/seed-fb9cbc17/cairn/internal/statetest"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/scan"
)

// A home, a directory of homes and a whole file system are captured only by mistake. A directory
// inside a home is a project.
func TestGuardRoot(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	at := func(path string) string { return filepath.Join(base, filepath.FromSlash(path)) }
	me := settings.Options{Home: at("users/me")}
	for name, c := range map[string]struct {
		root string
		opt  settings.Options
		want bool // refused
	}{
		"the home":                       {at("users/me"), me, true},
		"the directory of homes":         {at("users"), me, true},
		"a directory above":              {base, me, true},
		"a project in the home":          {at("users/me/project"), me, false},
		"another home":                   {at("users/you"), me, false},
		"beside the home":                {at("users/me-too"), me, false},
		"a home by a pattern":            {at("users/you"), settings.Options{Homes: []string{at("users/*")}}, true},
		"above a home by a pattern":      {at("users"), settings.Options{Homes: []string{at("users/*")}}, true},
		"below a home by a pattern":      {at("users/you/p"), settings.Options{Homes: []string{at("users/*")}}, false},
		"a pattern that is none":         {at("x"), settings.Options{Homes: []string{"[", at("x")}}, true},
		"no home is known":               {at("users/me"), settings.Options{}, false},
		"a whole file system":            {filepath.VolumeName(base) + string(filepath.Separator), settings.Options{}, true},
		"forced":                         {at("users/me"), settings.Options{Home: at("users/me"), Force: true}, false},
		"a home with a slash at its end": {at("users/me"), settings.Options{Home: at("users/me") + string(filepath.Separator)}, true},
	} {
		err := GuardRoot(c.root, &c.opt)
		if (err != nil) != c.want || err != nil && !errors.Is(err, state.ErrRoot) {
			t.Errorf("%s: %v, want it refused: %v", name, err, c.want)
		}
	}
}

// 0 is the default, NoLimit and Force lift a limit, and so does a last capture above it.
func TestLimitsOfACapture(t *testing.T) {
	t.Parallel()
	store := statetest.NewStore(t)
	r := New(store, nil)
	for _, c := range []struct {
		opt       settings.Options
		before    int
		wantFiles int
		wantBytes int64
	}{
		{settings.Options{}, 0, settings.DefaultMaxFiles, settings.DefaultMaxScanBytes},
		{settings.Options{MaxFiles: 5, MaxScanBytes: 6}, 5, 5, 6},
		{settings.Options{MaxFiles: 5}, 6, 0, settings.DefaultMaxScanBytes},
		{settings.Options{MaxFiles: settings.NoLimit, MaxScanBytes: settings.NoLimit}, 0, 0, 0},
		{settings.Options{MaxFiles: 5, MaxScanBytes: 6, Force: true}, 0, 0, 0},
	} {
		store.Opt = c.opt
		if got := r.maxFiles(auxiliary{Files: c.before}); got != c.wantFiles {
			t.Errorf("%+v after %d: %d files, want %d", c.opt, c.before, got, c.wantFiles)
		}
		if got := r.maxScanBytes(); got != c.wantBytes {
			t.Errorf("%+v: %d bytes, want %d", c.opt, got, c.wantBytes)
		}
	}
}

// The limit that was passed by more is named.
func TestFilesFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sum      scan.Tally
		maxFiles int
		maxBytes int64
		want     bool
	}{
		{scan.Tally{Files: 10, Bytes: 1}, 9, 100, true},
		{scan.Tally{Files: 1, Bytes: 101}, 9, 100, false},
		{scan.Tally{Files: 10, Bytes: 1000}, 0, 100, false},
		{scan.Tally{Files: 10, Bytes: 1000}, 9, 0, true},
		{scan.Tally{Files: 8, Bytes: 50}, 9, 100, true}, // other workers still count
	} {
		if got := filesFirst(c.sum, c.maxFiles, c.maxBytes); got != c.want {
			t.Errorf("%+v of %d and %d: %v", c.sum, c.maxFiles, c.maxBytes, got)
		}
	}
}

func TestAbsentDirs(t *testing.T) {
	t.Parallel()
	there := t.TempDir()
	gone := filepath.Join(there, "gone")
	if got := AbsentDirs(there, gone, filepath.Join(gone, "below")); !slices.Equal(got, []string{gone, filepath.Join(gone, "below")}) {
		t.Errorf("absent: %q", got)
	}
}
