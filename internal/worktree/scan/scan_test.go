package scan

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
	"github.com/seed-fb9cbc17/cairn/internal/worktree/dir"
)

// memorySink keeps objects in memory. before, if set, is called with the contents of
// every blob, after they were read and before the scan looks at the file again.
type memorySink struct {
	mu      sync.Mutex
	objects map[object.ID][]byte
	before  func(content []byte)
	err     error
}

func (m *memorySink) Add(kind object.Kind, content []byte) (object.ID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return object.ID{}, m.err
	}
	if m.before != nil && kind == object.Blob {
		m.before(content)
	}
	id := object.Sum(kind, content)
	if m.objects == nil {
		m.objects = make(map[object.ID][]byte)
	}
	m.objects[id] = slices.Clone(content)
	return id, nil
}

func (m *memorySink) AddAs(_ object.ID, kind object.Kind, content []byte) error {
	_, err := m.Add(kind, content)
	return err
}

func (m *memorySink) AddBlob(r io.Reader, size int64) (object.ID, error) {
	content, err := io.ReadAll(r)
	if err == nil && int64(len(content)) != size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return object.ID{}, err
	}
	return m.Add(object.Blob, content)
}

func (m *memorySink) Has(id object.ID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.objects[id]
	return ok
}

// newScan describes a scan of root into sink, on top of x.
func newScan(root string, x *index.Index, sink *memorySink) *Walk {
	return &Walk{Root: root, Index: x, Rules: ignore.NewChain(), Sink: sink}
}

func runScan(t *testing.T, s *Walk) *Result {
	t.Helper()
	res, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// captured is the content that the index has for a path.
func captured(t *testing.T, s *Walk, path string) string {
	t.Helper()
	rec := s.Index.Lookup(path)
	if rec == nil || rec.Skip() != index.Captured {
		t.Fatalf("%s is not captured: %v", path, rec)
	}
	return string(s.Sink.(*memorySink).objects[rec.ID()])
}

// TestR05_ChangedBetweenTheTwoStats changes a file at the one moment that matters:
// after it was read, before it is looked at again.
func TestR05_ChangedBetweenTheTwoStats(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string]int{"once": 1, "twice": 2, "always": 1 << 30} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			path := filepath.Join(root, "f")
			writeFile(t, path, "0")
			n := 0
			sink := &memorySink{before: func([]byte) {
				if n < changes {
					n++
					writeFile(t, path, strings.Repeat("x", n))
				}
			}}
			s := newScan(root, index.New(), sink)
			res := runScan(t, s)
			if name == "always" {
				if len(res.Skipped) != 1 || res.Skipped[0].Reason != index.Unstable || res.Tree != object.EmptyTree {
					t.Errorf("%+v", res)
				}
				return
			}
			if got := captured(t, s, "f"); got != strings.Repeat("x", changes) {
				t.Errorf("captured %q", got)
			}
		})
	}
}

// TestR05_RemovedWhileRead: a file that goes while it is read is a deletion, as one that goes before.
func TestR05_RemovedWhileRead(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "f")
	writeFile(t, path, "0")
	s := newScan(root, index.New(), &memorySink{before: func([]byte) {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}})
	if res := runScan(t, s); len(res.Skipped) > 0 || res.Tree != object.EmptyTree {
		t.Errorf("%+v", res)
	}
}

func TestR05_LargeFileChangesWhileRead(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "f")
	writeFile(t, path, strings.Repeat("a", maxInMemory+1))
	once := sync.OnceFunc(func() { writeFile(t, path, strings.Repeat("b", maxInMemory+2)) })
	s := newScan(root, index.New(), &memorySink{before: func([]byte) { once() }})
	runScan(t, s)
	if got := captured(t, s, "f"); got != strings.Repeat("b", maxInMemory+2) {
		t.Errorf("captured %d bytes of %q", len(got), got[0])
	}
}

// TestR23_RacyEntriesAreReadAgain plants a wrong id under a stat that matches. It
// is believed if the entry is not racy, and only then.
func TestR23_RacyEntriesAreReadAgain(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "f"), "right")
	// On a busy machine the scan comes late: the time of the file is in the future, so that it is young then.
	young := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(root, "f"), young, young); err != nil {
		t.Fatal(err)
	}
	x := index.New()
	runScan(t, newScan(root, x, &memorySink{}))
	entry := x.Lookup("f").Entry()
	if !entry.Racy {
		t.Error("a file that was just written is not marked racy")
	}
	wrong := object.Sum(object.Blob, []byte("wrong"))
	for _, racy := range []bool{false, true} {
		entry.ID, entry.Racy = wrong, racy
		y := index.New()
		y.Put(&index.Dir{Raw: index.Append(nil, &entry)})
		runScan(t, newScan(root, y, &memorySink{}))
		if reread := y.Lookup("f").ID() != wrong; reread != racy {
			t.Errorf("racy %v: read again %v", racy, reread)
		}
	}
	entry.ID, entry.Racy = wrong, false
	x.Put(&index.Dir{Raw: index.Append(nil, &entry)})
	s := newScan(root, x, &memorySink{})
	s.Verify = true
	if runScan(t, s); x.Lookup("f").ID() == wrong {
		t.Error("Verify believed a stat")
	}
}

func TestR23_TheRule(t *testing.T) {
	t.Parallel()
	read := time.Date(2026, 1, 2, 3, 4, 5, 600_000_001, time.UTC)
	at := func(d time.Duration) int64 { return read.Add(d).UnixNano() }
	whole := func(d time.Duration) int64 { return read.Add(d).Truncate(time.Second).UnixNano() }
	for name, c := range map[string]struct {
		st   index.Stat
		racy bool
	}{
		"long ago":                     {index.Stat{MTime: at(-time.Hour), CTime: at(-time.Hour)}, false},
		"just now":                     {index.Stat{MTime: at(0), CTime: at(0)}, true},
		"in the future":                {index.Stat{MTime: at(time.Hour), CTime: at(-time.Hour)}, true},
		"within the slack":             {index.Stat{MTime: at(-racySlack), CTime: at(-time.Hour)}, true},
		"beyond the slack":             {index.Stat{MTime: at(-racySlack - 1), CTime: at(-time.Hour)}, false},
		"only the change time is new":  {index.Stat{MTime: at(-time.Hour), CTime: at(-time.Millisecond)}, true},
		"whole seconds, one ago":       {index.Stat{MTime: whole(-time.Second), CTime: whole(-time.Second)}, true},
		"whole seconds, long ago":      {index.Stat{MTime: whole(-time.Hour), CTime: whole(-time.Hour)}, false},
		"whole seconds, just too late": {index.Stat{MTime: whole(-3 * time.Second), CTime: 0}, false},
	} {
		if got := racy(&c.st, read); got != c.racy {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestScanFailsClosed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"a", "d/b", "d/e/c"} {
		writeFile(t, filepath.Join(root, name), name)
	}
	x := index.New()
	runScan(t, newScan(root, x, &memorySink{}))
	before := x.Root()
	writeFile(t, filepath.Join(root, "d/e/c"), "changed")
	full := errors.New("disk full")
	if _, err := newScan(root, x, &memorySink{err: full}).Run(t.Context()); !errors.Is(err, full) || !strings.Contains(err.Error(), "c") {
		t.Errorf("%v", err)
	}
	if x.Root() != before {
		t.Error("a failed scan changed the index")
	}
	if _, err := newScan(filepath.Join(root, "none"), index.New(), &memorySink{}).Run(t.Context()); err == nil {
		t.Error("scanned a root that is not there")
	}
}

// TestScanScope looks only at the directories of the scope, and at new ones.
func TestScanScope(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"a/x", "b/x", "b/c/x"} {
		writeFile(t, filepath.Join(root, name), "1")
	}
	x := index.New()
	sink := &memorySink{}
	runScan(t, newScan(root, x, sink))
	for _, name := range []string{"a/x", "b/x", "b/c/x", "new/x"} {
		writeFile(t, filepath.Join(root, name), "22")
	}
	s := newScan(root, x, sink)
	s.Scope = map[string]bool{"": true, "b": true}
	runScan(t, s)
	for path, want := range map[string]string{"a/x": "1", "b/x": "22", "b/c/x": "1", "new/x": "22"} {
		if got := captured(t, s, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	all := newScan(root, index.New(), &memorySink{})
	want := runScan(t, all).Tree
	if got := runScan(t, newScan(root, x, sink)).Tree; got != want {
		t.Errorf("the full scan after it: %s, want %s", got, want)
	}
}

// TestScanUnchangedWritesNothing: an unchanged tree is neither read nor stored.
func TestScanUnchangedWritesNothing(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"a", "d/b", "d/e/c"} {
		writeFile(t, filepath.Join(root, name), name)
		os.Chtimes(filepath.Join(root, name), old, old)
	}
	x := index.New()
	first := runScan(t, newScan(root, x, &memorySink{}))
	for dir, d := range x.Dirs { // as if the files had been there for an hour
		raw := []byte{}
		for rec := range d.All {
			e := rec.Entry()
			e.Racy = false
			raw = index.Append(raw, &e)
		}
		x.Put(&index.Dir{Path: dir, Tree: d.Tree, Raw: raw})
	}
	sink := &memorySink{err: errors.New("nothing should be stored")}
	again := runScan(t, newScan(root, x, sink))
	if again.Tree != first.Tree || again.Changed || again.Dropped || again.Read != 0 || again.Files != 3 {
		t.Errorf("%+v, first %+v", again, first)
	}
}

// TestScanBitsOfDirectories: those of a known directory are read from the open one, and
// a change of them alone is seen.
func TestScanBitsOfDirectories(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("directories have no permission bits on this system")
	}
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "d/e/f"), "x")
	x, sink := index.New(), &memorySink{}
	runScan(t, newScan(root, x, sink))
	for _, perm := range []os.FileMode{0o700, 0o750} {
		if err := os.Chmod(filepath.Join(root, "d/e"), perm); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(root, "d/e"))
		if err != nil {
			t.Fatal(err)
		}
		runScan(t, newScan(root, x, sink))
		if got := x.Lookup("d/e").Perm(); got != uint16(info.Mode().Perm()) {
			t.Errorf("bits %o, want %o", got, info.Mode().Perm())
		}
	}
}

// TestScanKnownDirectoryBecomesSomethingElse: what the index takes for a directory is
// opened before it is looked at.
func TestScanKnownDirectoryBecomesSomethingElse(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"gone": func(string) error { return nil },
		"file": func(path string) error { return os.WriteFile(path, []byte("file"), 0o644) },
		"link": func(path string) error { return os.Symlink("..", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			writeFile(t, filepath.Join(root, "d/e/f"), "x")
			writeFile(t, filepath.Join(root, "z"), "z")
			x, sink := index.New(), &memorySink{}
			runScan(t, newScan(root, x, sink))
			if err := os.RemoveAll(filepath.Join(root, "d")); err != nil {
				t.Fatal(err)
			}
			if err := change(filepath.Join(root, "d")); err != nil {
				t.Skip(err)
			}
			got := runScan(t, newScan(root, x, sink)).Tree
			if want := runScan(t, newScan(root, index.New(), sink)).Tree; got != want {
				t.Errorf("tree %s, want %s", got, want)
			}
			if x.Dirs["d/e"] != nil || x.Dirs["d"] != nil {
				t.Error("the directory is still in the index")
			}
		})
	}
}

// TestSurvey counts without reading, and stops at a limit.
func TestSurvey(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{"a", "big/in/1", "big/in/2", "big/in/3", "big/in/4", "small/x", "off/y"} {
		writeFile(t, filepath.Join(root, name), name)
	}
	writeFile(t, filepath.Join(root, ".gitignore"), "off\n")
	x := index.New()
	s := newScan(root, x, nil) // nothing is stored
	tallies, err := s.Survey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files := func(t Tally) int64 { return int64(t.Files) }
	if got := Largest(tallies, 2, files); len(got) != 2 || got[0] != (Tally{"big/in", 4, 32}) || got[1] != (Tally{"small", 1, 7}) {
		t.Errorf("%+v", got)
	}
	if x.Root() != nil {
		t.Error("the index has changed")
	}
	s.MaxFiles = 3
	if _, err := s.Survey(t.Context()); !errors.Is(err, ErrLimit) {
		t.Errorf("%v", err)
	}
	s.MaxFiles, s.MaxBytes = 0, 20
	if _, err := s.Survey(t.Context()); !errors.Is(err, ErrLimit) {
		t.Errorf("%v", err)
	}
	spread := []Tally{{"a/1", 10, 0}, {"a/2", 10, 0}, {"a/3", 10, 0}, {"a/4", 10, 0}, {"a/5", 10, 0}}
	if got := Largest(spread, 2, files); len(got) != 1 || got[0] != (Tally{"a", 50, 0}) {
		t.Errorf("%+v", got)
	}
	flat := []Tally{{"", 90, 0}, {"d", 10, 0}}
	if got := Largest(flat, 3, files); len(got) != 1 || got[0] != (Tally{"", 100, 0}) {
		t.Errorf("%+v", got)
	}
}

// TestScanLeavesTemporaryFiles: what a refused operation could not remove is no part of a capture, also where an
// earlier release has captured it. Directories and other names are.
func TestScanLeavesTemporaryFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "d/f"), "f")
	const left = "d/.cairn-b6b7baff-0.tmp"
	writeFile(t, filepath.Join(root, left), "left")
	writeFile(t, filepath.Join(root, "d/.cairn-notes.tmp"), "mine")
	writeFile(t, filepath.Join(root, "d/.cairn-x-1.tmp/f"), "mine")
	x := index.New()
	check := func(res *Result) {
		t.Helper()
		var got []string
		for rec := range x.Dirs["d"].All {
			got = append(got, string(rec.Name()))
		}
		if want := []string{".cairn-notes.tmp", ".cairn-x-1.tmp", "f"}; !slices.Equal(got, want) || len(res.Skipped) > 0 {
			t.Errorf("captured %q, skipped %v", got, res.Skipped)
		}
	}
	check(runScan(t, newScan(root, x, &memorySink{})))
	fi, err := os.Lstat(filepath.Join(root, left))
	if err != nil {
		t.Fatal(err)
	}
	st, d := dir.InfoOf(fi), x.Dirs["d"]
	held := index.Entry{Name: filepath.Base(left), Mode: st.Mode, Perm: st.Perm, Stat: st.Stat, ID: object.Sum(object.Blob, []byte("left"))}
	d.Raw = append(index.Append(nil, &held), d.Raw...)
	check(runScan(t, newScan(root, x, &memorySink{})))
	check(runScan(t, newScan(root, x, &memorySink{})))
}
