package gitstate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// settled reads again until the stamps count: a path that was changed within the last moments does
// not settle.
func (w *world) settled() Stamps {
	w.t.Helper()
	for {
		if _, s := w.readFrom(w.dir); s.Sum != "" {
			return s
		}
	}
}

// TestStamps: stamps hold until a change, and no longer.
func TestStamps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("one")
	w.write("file", "stashed")
	w.git("stash", "-q")
	w.git("branch", "deep/topic")
	w.git("pack-refs", "--all")
	linked := filepath.Join(filepath.Dir(w.dir), "linked")
	w.git("worktree", "add", "-q", linked)
	for _, c := range []struct {
		name   string
		change func()
	}{
		{"branch", func() { w.git("branch", "new") }},
		{"deep branch", func() { w.git("branch", "deep/deeper/new") }},
		{"move", func() { w.git("update-ref", "refs/heads/new", w.git("commit-tree", "-m", "x", "HEAD^{tree}")) }},
		{"delete packed", func() { w.git("branch", "-D", "deep/topic") }},
		{"commit", func() { w.commit("two") }},
		{"add", func() { w.write("added", ""); w.git("add", "added") }},
		{"switch", func() { w.git("checkout", "-q", "--detach") }},
		{"stash", func() { w.write("file", "again"); w.git("stash", "-q") }},
		{"drop", func() { w.git("stash", "drop", "-q") }},
		{"other work tree", func() { w.In(linked, "checkout", "-q", "--detach") }},
		{"configuration", func() { w.git("config", "a.b", "c") }},
		{"merge message", func() { w.write(".git/MERGE_MSG", "x") }},
		{"sparse patterns", func() { w.write(".git/info/sparse-checkout", "/*\n") }},
		{"merge", func() { w.write(".git/MERGE_HEAD", w.git("rev-parse", "HEAD")) }},
		{"written in place", func() { w.write(".git/refs/heads/new", w.git("rev-parse", "HEAD")+"\n") }},
	} {
		s := w.settled()
		if !s.Hold() {
			t.Fatalf("%s: the stamps do not hold without a change", c.name)
		}
		c.change()
		if s.Hold() {
			t.Errorf("%s: the stamps hold after the change", c.name)
		}
	}
}

// TestAbsentStamps: a file that comes and goes changes the directory, and no stamp.
func TestAbsentStamps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("one")
	s := w.settled()
	if len(s.Absent) < 20 || len(s.Paths) > 25 {
		t.Errorf("%d paths and %d absent ones are looked at", len(s.Paths), len(s.Absent))
	}
	w.write(".git/index.lock", "")
	if err := os.Remove(filepath.Join(w.dir, ".git", "index.lock")); err != nil {
		t.Fatal(err)
	}
	if !s.Hold() {
		t.Error("the stamps do not hold after a lock came and went")
	}
	w.write(".git/CHERRY_PICK_HEAD", "")
	if s.Hold() {
		t.Error("the stamps hold with a file that was absent")
	}
}

// TestYoungStamps: stamps of a path that was changed a moment ago never hold.
func TestYoungStamps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("one")
	future := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(w.dir, ".git", "HEAD"), future, future); err != nil {
		t.Fatal(err)
	}
	if _, s := w.readFrom(w.dir); s.Sum != "" || s.Hold() {
		t.Error("stamps of a young file hold")
	}
}

// manyRefs makes 10,000 refs, half of them loose.
func manyRefs(w *world) {
	w.t.Helper()
	id := w.commit("one")
	var lines strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&lines, "create refs/heads/d%d/branch-%d %s\n", i%50, i, id)
	}
	w.Feed(w.dir, lines.String(), "update-ref", "--stdin")
	w.git("pack-refs", "--all")
	lines.Reset()
	for i := range 5_000 {
		fmt.Fprintf(&lines, "create refs/tags/tag-%d %s\n", i, id)
	}
	w.Feed(w.dir, lines.String(), "update-ref", "--stdin")
}

// TestManyRefs compares a record of 15,000 refs with git.
func TestManyRefs(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: git makes 15,000 refs")
	}
	w := newWorld(t)
	manyRefs(w)
	w.check(w.dir, w.read())
}

// BenchmarkGitRecordUnchanged looks at an unchanged repository with 15,000 refs.
func BenchmarkGitRecordUnchanged(b *testing.B) {
	w := newWorld(b)
	manyRefs(w)
	s := w.settled()
	for b.Loop() {
		if !s.Hold() {
			b.Fatal("the stamps do not hold")
		}
	}
}

// BenchmarkGitRecordRead reads a repository with 15,000 refs.
func BenchmarkGitRecordRead(b *testing.B) {
	w := newWorld(b)
	manyRefs(w)
	for b.Loop() {
		w.read()
	}
}
