package watch

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// watched is a root with the directories a, a/b and c under watch.
func watched(t *testing.T) (root string, w *Watcher) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "root")
	for _, dir := range []string{"a/b", "c"} {
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	for _, file := range []string{"top", "a/x", "a/b/y", "c/z"} {
		must(t, os.WriteFile(filepath.Join(root, file), []byte("one"), 0o644))
	}
	w, err := New(root)
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(func() { w.Close() })
	for _, dir := range []string{"", "a", "a/b", "c"} {
		add(t, w, root, dir)
	}
	return root, w
}

func add(t *testing.T, w *Watcher, root, dir string) {
	t.Helper()
	f, err := os.Open(filepath.Join(root, dir))
	must(t, err)
	defer f.Close()
	must(t, w.Add(dir, f))
}

var epoch = time.Unix(1, 0)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// text prints changes as "dir: name name; ... new: dir", or the reason.
func text(c Changes) string {
	if c.All {
		return "all: " + c.Reason
	}
	var parts []string
	for _, dir := range slices.Sorted(maps.Keys(c.Dirs)) {
		parts = append(parts, dir+": "+strings.Join(slices.Sorted(maps.Keys(c.Dirs[dir])), " "))
	}
	for _, dir := range slices.Sorted(maps.Keys(c.New)) {
		parts = append(parts, "new: "+dir)
	}
	return strings.Join(parts, "; ")
}

func TestChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do   func(at func(string) string) error
		want string
	}{
		"nothing":           {func(func(string) string) error { return nil }, ""},
		"reading":           {func(at func(string) string) error { _, err := os.ReadFile(at("a/x")); return err }, ""},
		"a file is written": {func(at func(string) string) error { return os.WriteFile(at("a/x"), []byte("two"), 0o644) }, "a: x"},
		"a file is made":    {func(at func(string) string) error { return os.WriteFile(at("a/b/new"), nil, 0o644) }, "a/b: new"},
		"a file goes":       {func(at func(string) string) error { return os.Remove(at("c/z")) }, "c: z"},
		"a file is renamed": {func(at func(string) string) error { return os.Rename(at("a/x"), at("c/x")) }, "a: x; c: x"},
		"permissions":       {func(at func(string) string) error { return os.Chmod(at("top"), 0o600) }, ": top"},
		"times":             {func(at func(string) string) error { return os.Chtimes(at("top"), epoch, epoch) }, ": top"},
		"a link":            {func(at func(string) string) error { return os.Symlink("x", at("a/l")) }, "a: l"},
		"a directory is made": {
			func(at func(string) string) error { return os.MkdirAll(at("a/n/m"), 0o755) }, "a: n; new: a/n",
		},
		"a directory is made again": {func(at func(string) string) error {
			return errors.Join(os.RemoveAll(at("a/b")), os.Mkdir(at("a/b"), 0o755))
		}, "a: b; a/b: y; new: a/b"},
		"permissions of a directory": {func(at func(string) string) error { return os.Chmod(at("a/b"), 0o700) }, "a: b; a/b: "},
		"a directory becomes a link": {func(at func(string) string) error {
			return errors.Join(os.RemoveAll(at("a/b")), os.Symlink("../c", at("a/b")))
		}, "a: b; a/b: y"},
		"a directory is moved":     {func(at func(string) string) error { return os.Rename(at("a"), at("d")) }, "all: a directory was moved"},
		"a directory is moved in":  {func(at func(string) string) error { return os.Rename(at("../other"), at("d")) }, "all: a directory was moved"},
		"a directory is moved out": {func(at func(string) string) error { return os.Rename(at("c"), at("../c")) }, "all: a directory was moved"},
		"the root is replaced": {func(at func(string) string) error {
			return errors.Join(os.Rename(at(""), at("../away")), os.Mkdir(at(""), 0o755))
		}, "all: another directory has taken the root's place"},
		"names of any bytes": {func(at func(string) string) error { return os.WriteFile(at("a/\xff \n"), nil, 0o644) }, "a: \xff \n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, w := watched(t)
			must(t, os.Mkdir(filepath.Join(root, "../other"), 0o755))
			must(t, test.do(func(path string) string { return filepath.Join(root, path) }))
			c := w.Changes()
			if got := text(c); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if again := w.Changes(); !c.All && !again.None() {
				t.Errorf("asked again: %q", text(again))
			}
		})
	}
}

// After an answer that everything may have changed, watching begins again.
func TestWatchAnew(t *testing.T) {
	t.Parallel()
	root, w := watched(t)
	must(t, os.Rename(filepath.Join(root, "a"), filepath.Join(root, "d")))
	if c := w.Changes(); !c.All || w.Watched() != 0 {
		t.Fatalf("%q, %d watched", text(c), w.Watched())
	}
	add(t, w, root, "d/b")
	must(t, os.WriteFile(filepath.Join(root, "d", "b", "y"), []byte("two"), 0o644))
	if got := text(w.Changes()); got != "d/b: y" {
		t.Errorf("got %q", got)
	}
}

// More than the queue holds.
func TestOverflow(t *testing.T) {
	t.Parallel()
	root, w := watched(t)
	limit := 16384
	if data, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events"); err == nil {
		_, _ = fmt.Sscan(string(data), &limit)
	}
	if limit > 1<<20 {
		t.Skipf("the queue holds %d events", limit)
	}
	for i := range limit + 10 { // equal neighbours would be made one
		must(t, os.Chmod(filepath.Join(root, []string{"top", "a/x"}[i%2]), 0o644))
	}
	if got := text(w.Changes()); got != "all: more happened than the queue holds" {
		t.Errorf("got %.100q", got)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	root, w := watched(t)
	must(t, w.Close())
	must(t, w.Close())
	if c := w.Changes(); !c.All {
		t.Error("a closed watcher is sure of something")
	}
	f, err := os.Open(root)
	must(t, err)
	defer f.Close()
	if err := w.Add("", f); err == nil {
		t.Error("a closed watcher watches")
	}
}
