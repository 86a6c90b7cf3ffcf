package watch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// refusing is a kernel that refuses the calls given.
func refusing(init, add error) system {
	sys := inotify
	if init != nil {
		sys.init = func(int) (int, error) { return -1, init }
	}
	if add != nil {
		sys.add = func(int, string, uint32) (int, error) { return -1, add }
	}
	return sys
}

// TestLimits: what the system refuses is told in a way that a user can do something
// about, and a limit can be told from the rest.
func TestLimits(t *testing.T) {
	t.Parallel()
	needsWatching(t)
	for name, test := range map[string]struct {
		sys   system
		is    error
		names string
	}{
		"instances":  {refusing(unix.EMFILE, nil), ErrLimit, "fs.inotify.max_user_instances"},
		"files":      {refusing(unix.ENFILE, nil), ErrLimit, "fs.file-max"},
		"watches":    {refusing(nil, unix.ENOSPC), ErrLimit, "fs.inotify.max_user_watches"},
		"no inotify": {refusing(unix.ENOSYS, nil), ErrUnsupported, ""},
		"no memory":  {refusing(nil, unix.ENOMEM), unix.ENOMEM, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			w, err := newWatcher(root, test.sys)
			if err == nil {
				f, e := os.Open(root)
				must(t, e)
				defer f.Close()
				err = w.Add("", f)
				if w.Watched() != 0 {
					t.Error("a watch that failed is counted")
				}
				must(t, w.Close())
			}
			var limit *LimitError
			if errors.As(err, &limit) != (test.names != "") || limit != nil && limit.Name != test.names {
				t.Errorf("the limit is %v", limit)
			}
			if !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.names) || !strings.Contains(err.Error(), root) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestLimitsLater: if watching fails when it begins again, a caller that adds directories gets the
// error.
func TestLimitsLater(t *testing.T) {
	t.Parallel()
	root, w := watched(t)
	w.sys = refusing(unix.EMFILE, nil)
	must(t, os.Rename(filepath.Join(root, "a"), filepath.Join(root, "d")))
	if c := w.Changes(); !c.All || !strings.Contains(c.Reason, "max_user_instances") {
		t.Errorf("got %q", text(c))
	}
	f, err := os.Open(root)
	must(t, err)
	defer f.Close()
	if err := w.Add("", f); !errors.Is(err, ErrLimit) {
		t.Errorf("got %v", err)
	}
	w.sys = inotify
	if c := w.Changes(); !c.All {
		t.Errorf("got %q", text(c))
	}
	must(t, w.Add("", f))
}

// needsWatching skips a test where nothing can be watched, in a container for instance.
func needsWatching(t *testing.T) {
	t.Helper()
	w, err := New(t.TempDir())
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	}
	must(t, err)
	must(t, w.Close())
}

// TestLimitOfTheKernel meets the real limit.
func TestLimitOfTheKernel(t *testing.T) {
	if !gittest.Isolated(t) {
		return
	}
	if err := os.WriteFile("/proc/sys/user/max_inotify_watches", []byte("3"), 0); err != nil {
		t.Skip(err)
	}
	needsWatching(t)
	root := t.TempDir()
	w, err := New(root)
	must(t, err)
	defer w.Close()
	for i := range 4 {
		dir := filepath.Join(root, strings.Repeat("d", i+1))
		must(t, os.Mkdir(dir, 0o755))
		f, err := os.Open(dir)
		must(t, err)
		defer f.Close()
		if err := w.Add(filepath.Base(dir), f); i < 3 && err != nil || i == 3 && !errors.Is(err, ErrLimit) {
			t.Errorf("watch %d: %v", i+1, err)
		}
	}
}
