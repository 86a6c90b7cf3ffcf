package gitrestore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-fb9cbc17/cairn/internal/gitstate"
)

// recordAs reads the state, with the index by its name or as a file.
func (w *world) recordAs(named bool) *gitstate.Record {
	w.t.Helper()
	w.records = 1 // the next record is one as a file
	r := w.record()
	if named && !w.nameIndex(r) {
		w.t.Fatal("the index has no name")
	}
	return r
}

// TestNamedIndex: an index comes back from the name of its tree with the stat data of files that are as they were, so
// that git reads none of them again.
func TestNamedIndex(t *testing.T) {
	t.Parallel()
	for _, format := range knownFormats(t) {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, formats[format]...)
			was := w.recordAs(true)
			want := w.look()
			w.git("rm", "-q", "--cached", "file4")
			w.write("more", "more")
			w.git("add", "more")
			w.must(os.Remove(filepath.Join(w.dir, "more")))
			w.back(was, nil, Parts{})
			if got := strings.TrimSpace(w.git("diff-files", "--name-only")); got != "file4" {
				t.Errorf("git has no stat data of %q, want those of file4 alone", got)
			}
			w.same("after", want)
			if again := w.recordAs(false); !gitstate.SameIndex(again, was) || gitstate.SameIndex(again, w.other()) {
				t.Error("the index is not the one of the record")
			}
		})
	}
}

// other is a state with another index.
func (w *world) other() *gitstate.Record {
	w.t.Helper()
	w.write("other", "other")
	w.git("add", "other")
	return w.recordAs(false)
}

// TestNamedIndexLost: without the tree nothing changes.
func TestNamedIndexLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	was := w.recordAs(true)
	was.IndexTree = strings.Repeat("1", 40)
	w.other()
	want := w.look()
	_, err := w.Apply(context.Background(), Make(was, nil, w.record(), Parts{Index: true}))
	if !errors.Is(err, ErrRefused) {
		t.Errorf("%v, want ErrRefused", err)
	}
	w.same("after", want)
}

// TestRestoredIndexIsOld: git sees a change of a file that was as young as the index when that was recorded, and that
// kept size and times. An index with the time of now would hide it.
func TestRestoredIndexIsOld(t *testing.T) {
	t.Parallel()
	for name, named := range map[string]bool{"named": true, "file": false} {
		for _, gone := range []bool{false, true} {
			t.Run(name+map[bool]string{true: " rebuilt"}[gone], func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.git("config", "core.trustctime", "false") // no test can set it
				file, at := filepath.Join(w.dir, "file"), time.Now().Add(-time.Hour).Truncate(time.Second)
				w.write("file", "one")
				for name := range w.files() {
					w.must(os.Chtimes(filepath.Join(w.dir, name), at, at))
				}
				w.git("commit", "-q", "-am", "young")
				w.must(os.Chtimes(filepath.Join(w.dir, ".git", "index"), at, at))
				w.write("file", "two")
				w.must(os.Chtimes(file, at, at))
				was := w.recordAs(named)
				if gone {
					w.must(os.RemoveAll(filepath.Join(w.dir, ".git")))
				} else {
					w.write("more", "more")
					w.git("-c", "core.trustctime=false", "update-index", "--add", "--cacheinfo", "100644,"+strings.TrimSpace(w.git("hash-object", "-w", "more"))+",more")
				}
				w.back(was, nil, Parts{})
				if got := w.git("status", "--porcelain", "--untracked-files=no"); got != " M file\n" {
					t.Errorf("git sees %q", got)
				}
			})
		}
	}
}
