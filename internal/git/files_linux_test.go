package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// later is a cache whose reader reads files long after they were written.
func later() *Files {
	return &Files{now: func() time.Time { return time.Now().Add(2 * settled) }}
}

func readOf(t *testing.T, m *Files, path string) []byte {
	t.Helper()
	data, err := m.Read(path, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFilesReadAgain: whatever becomes of a file that was read, the next read shows it.
func TestFilesReadAgain(t *testing.T) {
	t.Parallel()
	const before, after = "[core]\n\tignorecase = 0", "[core]\n\tignorecase = 1"
	rewrite := func(path string) error { return os.WriteFile(path, []byte(after), 0o644) }
	for name, change := range map[string]func(path string, was fs.FileInfo) error{
		"written": func(path string, _ fs.FileInfo) error { return rewrite(path) },
		"written, with its old time": func(path string, was fs.FileInfo) error {
			return errors.Join(rewrite(path), os.Chtimes(path, was.ModTime(), was.ModTime()))
		},
		"exchanged": func(path string, was fs.FileInfo) error {
			other := path + ".new"
			return errors.Join(rewrite(other), os.Chtimes(other, was.ModTime(), was.ModTime()), os.Rename(other, path))
		},
		"made a link": func(path string, _ fs.FileInfo) error {
			return errors.Join(os.Remove(path), rewrite(path+".to"), os.Symlink(path+".to", path))
		},
	} {
		for who, m := range map[string]*Files{"no memory": nil, "at once": {}, "later": later()} {
			path := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(path, []byte(before), 0o644); err != nil {
				t.Fatal(err)
			}
			was, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got := string(readOf(t, m, path)); got != before {
					t.Fatalf("%s, %s: %q before", name, who, got)
				}
			}
			if err := change(path, was); err != nil {
				t.Fatal(err)
			}
			if got := string(readOf(t, m, path)); got != after {
				t.Errorf("%s, %s: read %q", name, who, got)
			}
		}
	}
}

// TestFilesRemembered: a file that has been left alone is not opened again, and a file that was
// written a moment ago is. A path that is no file any more, or too large, gives an error.
func TestFilesRemembered(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "exclude")
	if err := os.WriteFile(path, []byte("*.o\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	same := func(m *Files) bool {
		first, second := readOf(t, m, path), readOf(t, m, path)
		return &first[0] == &second[0]
	}
	if same(new(Files)) || same(nil) {
		t.Error("remembered although it could change without a new time")
	}
	m := later()
	if !same(m) {
		t.Error("opened again")
	}
	if _, err := m.Read(path, 2); err == nil {
		t.Error("read beyond the limit")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Read(path, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Read(path, 10); !errors.Is(err, errNotRegular) {
		t.Errorf("made a FIFO: %v", err)
	}
}

// TestFilesBounded: a memory does not grow without end.
func TestFilesBounded(t *testing.T) {
	t.Parallel()
	m, dir := later(), t.TempDir()
	for i := range 3 * maxRemembered {
		path := filepath.Join(dir, string(rune('a'+i)))
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		readOf(t, m, path)
	}
	if len(m.known) > maxRemembered {
		t.Errorf("%d files remembered", len(m.known))
	}
}

// TestFilesIndexSignature: the cached signature of an index equals a new one.
func TestFilesIndexSignature(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index")
	write := func(last byte) {
		t.Helper()
		data := make([]byte, 40)
		data[39] = last
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := later()
	for _, last := range []byte{1, 2} {
		write(last)
		readOf(t, m, path)
		want, err := (*Files)(nil).IndexSignature(path)
		for range 2 {
			if got, merr := m.IndexSignature(path); err != nil || merr != nil || got != want || got.Trailer[19] != last {
				t.Errorf("%v, want %v; %v, %v", got, want, merr, err)
			}
		}
		if data := readOf(t, m, path); len(data) != 40 {
			t.Errorf("read %d bytes after the signature", len(data))
		}
	}
}
