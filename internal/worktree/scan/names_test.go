package scan

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn/internal/gittest"
	"github.com/seed-fb9cbc17/cairn/internal/ignore"
	"github.com/seed-fb9cbc17/cairn/internal/index"
	"github.com/seed-fb9cbc17/cairn/internal/object"
)

// Every case changes the directory d, which holds a, b, the ignored file c.log and the
// directory sub, and names what it has changed. The scan of these names must find what
// one of everything finds.
func TestScanNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		names  []string
		change func(t *testing.T, d string)
	}{
		"nothing":   {nil, func(*testing.T, string) {}},
		"contents":  {[]string{"a"}, func(t *testing.T, d string) { writeFile(t, filepath.Join(d, "a"), "new") }},
		"removed":   {[]string{"b"}, func(t *testing.T, d string) { remove(t, filepath.Join(d, "b")) }},
		"added":     {[]string{"aa"}, func(t *testing.T, d string) { writeFile(t, filepath.Join(d, "aa"), "") }},
		"ignored":   {[]string{"z.log"}, func(t *testing.T, d string) { writeFile(t, filepath.Join(d, "z.log"), "") }},
		"vanished":  {[]string{"tmp"}, func(*testing.T, string) {}},
		"to a link": {[]string{"a"}, func(t *testing.T, d string) { remove(t, filepath.Join(d, "a")); symlink(t, "b", filepath.Join(d, "a")) }},
		"to a directory": {[]string{"a"}, func(t *testing.T, d string) {
			remove(t, filepath.Join(d, "a"))
			writeFile(t, filepath.Join(d, "a", "in"), "in")
		}},
		"directory to a file": {[]string{"sub"}, func(t *testing.T, d string) {
			remove(t, filepath.Join(d, "sub"))
			writeFile(t, filepath.Join(d, "sub"), "")
		}},
		"directory removed": {[]string{"sub"}, func(t *testing.T, d string) { remove(t, filepath.Join(d, "sub")) }},
		"renamed":           {[]string{"a", "c"}, func(t *testing.T, d string) { rename(t, filepath.Join(d, "a"), filepath.Join(d, "c")) }},
		"case":              {[]string{"A", "a"}, func(t *testing.T, d string) { rename(t, filepath.Join(d, "a"), filepath.Join(d, "A")) }},
		"all but the ignored": {[]string{"a", "b", "sub"}, func(t *testing.T, d string) {
			for _, name := range []string{"a", "b", "sub"} {
				remove(t, filepath.Join(d, name))
			}
		}},
		"all": {[]string{"a", "b", "c.log", "sub"}, func(t *testing.T, d string) {
			for _, name := range []string{"a", "b", "c.log", "sub"} {
				remove(t, filepath.Join(d, name))
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for _, path := range []string{"d/a", "d/b", "d/c.log", "d/sub/x", "other/y"} {
				writeFile(t, filepath.Join(root, path), path)
			}
			sink := &memorySink{}
			s := newScan(root, index.New(), sink)
			s.Rules = ignore.NewChain(ignore.Parse([]byte("*.log\n"), false))
			runScan(t, s)
			test.change(t, filepath.Join(root, "d"))
			s.Scope, s.Names = map[string]bool{"": true, "d": true}, map[string][]string{"": {"d"}, "d": append([]string{}, test.names...)}
			narrow := runScan(t, s)
			whole := newScan(root, index.New(), sink)
			whole.Rules = s.Rules
			if want := runScan(t, whole); narrow.Tree != want.Tree {
				t.Errorf("tree %s, want %s", narrow.Tree, want.Tree)
			}
			if rec, want := s.Index.Lookup("d"), whole.Index.Lookup("d"); rec.Empty() != want.Empty() {
				t.Errorf("empty: %v, want %v", rec.Empty(), want.Empty())
			}
			if got, want := s.Index.Files(), whole.Index.Files(); got != want || len(s.Index.Dirs) != len(whole.Index.Dirs) {
				t.Errorf("%d files in %d directories, want %d in %d", got, len(s.Index.Dirs), want, len(whole.Index.Dirs))
			}
		})
	}
}

// Names that are not asked for are not looked at, nor is their directory listed.
func TestScanNamesOnly(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "a"), "1")
	writeFile(t, filepath.Join(root, "b"), "1")
	s := newScan(root, index.New(), &memorySink{})
	runScan(t, s)
	for _, name := range []string{"a", "b", "c"} {
		writeFile(t, filepath.Join(root, name), "2 "+name)
	}
	s.Scope, s.Names = map[string]bool{"": true}, map[string][]string{"": {"a"}}
	runScan(t, s)
	if captured(t, s, "a") != "2 a" || captured(t, s, "b") != "1" || s.Index.Lookup("c") != nil {
		t.Error("not only a was looked at")
	}
	s.Names[""] = []string{"b", "d"} // of which one is not known
	runScan(t, s)
	if captured(t, s, "b") != "2 b" || s.Index.Lookup("c") != nil || s.Index.Lookup("d") != nil {
		t.Error("not only b was looked at")
	}
	if s.Index.Root().Tree == object.EmptyTree {
		t.Error("the tree is empty")
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skip("this system makes no symlink:", err)
	}
}

// On a file system that folds case, the system may report a change of a file by another spelling of its name.
func TestScanNamesInAnotherSpelling(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		names  []string
		change func(t *testing.T, root string)
	}{
		"contents": {[]string{"README"}, func(t *testing.T, root string) { writeFile(t, filepath.Join(root, "README"), "new") }},
		"removed":  {[]string{"README"}, func(t *testing.T, root string) { remove(t, filepath.Join(root, "README")) }},
		"made again": {[]string{"README"}, func(t *testing.T, root string) {
			remove(t, filepath.Join(root, "README"))
			writeFile(t, filepath.Join(root, "README"), "")
		}},
		"a directory":        {[]string{"Sub"}, func(t *testing.T, root string) { remove(t, filepath.Join(root, "Sub")) }},
		"not ASCII":          {[]string{"\u00c9"}, func(t *testing.T, root string) { writeFile(t, filepath.Join(root, "\u00c9"), "new") }},
		"a spelling of none": {[]string{"OTHER"}, func(*testing.T, string) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := gittest.CaseBlindDir(t)
			for _, path := range []string{"readme", "sub/x", "z", "\u00e9"} {
				writeFile(t, filepath.Join(root, path), path)
			}
			sink := &memorySink{}
			s := newScan(root, index.New(), sink)
			runScan(t, s)
			test.change(t, root)
			s.Scope, s.Names = map[string]bool{"": true}, map[string][]string{"": test.names}
			narrow := runScan(t, s)
			if want := runScan(t, newScan(root, index.New(), sink)); narrow.Tree != want.Tree {
				t.Errorf("tree %s, want %s", narrow.Tree, want.Tree)
			}
		})
	}
}
