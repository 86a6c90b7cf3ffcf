package cairn_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-fb9cbc17/cairn"
	"github.com/seed-fb9cbc17/cairn/internal/gittest"
)

// A write through one name of a file is seen at its other names, inside and outside of the root.
func TestWatchingLinkedFiles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, do func(at func(string) string) error
		many       string // why everything is looked at
	}{
		"a name outside": {
			before: func(at func(string) string) error { return os.Link(at("d1/sub/f1"), at("../outside")) },
			do:     func(at func(string) string) error { return os.WriteFile(at("../outside"), []byte("new"), 0o644) },
		},
		"bits by a name outside": {
			before: func(at func(string) string) error { return os.Link(at("d1/sub/f1"), at("../outside")) },
			do:     func(at func(string) string) error { return os.Chmod(at("../outside"), 0o755) },
		},
		"two names inside": {
			before: func(at func(string) string) error { return os.Link(at("d1/sub/f1"), at("d2/sub/second")) },
			do:     func(at func(string) string) error { return os.WriteFile(at("d2/sub/second"), []byte("new"), 0o644) },
		},
		"an ignored name": {
			before: func(at func(string) string) error { return os.Link(at("d1/sub/f1"), at("d1/y.log")) },
			do:     func(at func(string) string) error { return os.WriteFile(at("d1/y.log"), []byte("new"), 0o644) },
		},
		"a new name and a write": {
			do: func(at func(string) string) error {
				if err := os.Link(at("d1/sub/f1"), at("d2/sub/second")); err != nil {
					return err
				}
				return os.WriteFile(at("d2/sub/second"), []byte("new"), 0o644)
			},
		},
		"a directory that goes": {
			before: func(at func(string) string) error { return os.Link(at("d1/sub/f1"), at("d2/sub/second")) },
			do:     func(at func(string) string) error { return os.RemoveAll(at("d2")) },
		},
		"ignore rules": {
			before: func(at func(string) string) error {
				if err := os.WriteFile(at(".gitignore"), []byte("*.log\n"), 0o644); err != nil {
					return err
				}
				return os.Link(at(".gitignore"), at("../rules"))
			},
			do:   func(at func(string) string) error { return os.WriteFile(at("../rules"), []byte("f1\nsub2\n"), 0o644) },
			many: "a .gitignore has several names (hard links)",
		},
		"more than are looked at one by one": {
			before: func(at func(string) string) error { return linkMany(at("d1/many"), at("../many")) },
			do:     func(at func(string) string) error { return os.WriteFile(at("../many/1100"), []byte("new"), 0o644) },
			many:   "more than 1,000 files have several names (hard links)",
		},
	} {
		for _, earlier := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, earlier store %t", name, earlier), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, watchedTree())
				at := func(path string) string { return filepath.Join(f.root, path) }
				if test.before != nil { // a name outside that is made later is not known
					f.must(test.before(at))
				}
				if earlier { // directories of a known store are not listed
					needStamps(t, f.root)
					gittest.NewOracle(t).Init(f.root)
					listed := &listings{Handler: slog.DiscardHandler}
					f.opt.Logger = slog.New(listed)
					f.listAtMost(8, listed) // of 46; empty directories are always listed
				}
				w := newWatcherOf(t, f)
				if s := w.watching.Watching(); s.On != (test.many == "") || s.Reason != test.many {
					t.Errorf("watching says %+v", s)
				}
				w.same("again")
				w.do(test.do(at))
				w.same("written")
				w.write("d3/sub/f3", "another")
				w.same("another one")
			})
		}
	}
}

// A capture looks at the files with several names, and not at the others.
func TestWatchingLooksAtLinkedFilesAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, watchedTree())
	f.must(os.Link(f.path("d1/sub/f1"), f.path("../outside")))
	w := newWatcherOf(t, f)
	w.visited.Store(0)
	if _, err := w.watching.Track(t.Context(), cairn.TrackOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := w.visited.Load(); n != 1 {
		t.Errorf("looked at %d files", n)
	}
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func linkMany(dir, other string) error {
	for _, d := range []string{dir, other} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return err
		}
	}
	for i := range 1200 {
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, []byte("one of many"), 0o644); err != nil {
			return err
		}
		if err := os.Link(file, filepath.Join(other, fmt.Sprint(i))); err != nil {
			return err
		}
	}
	return nil
}
