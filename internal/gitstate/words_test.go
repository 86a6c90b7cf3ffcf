package gitstate

import (
	"slices"
	"strings"
	"testing"
)

// TestWords says what git commands did.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(w *world)
		want   []string // with the ids of the commits before and now for A and B
	}{
		{"nothing", func(*world) {}, nil},
		{"reset", func(w *world) { w.git("reset", "-q", "--hard", "HEAD~2") }, []string{"main: 2 commits away (A..B)", "index changed"}},
		{"amend", func(w *world) { w.git("commit", "-q", "--amend", "--allow-empty", "-m", "x") }, []string{"main: 2 commits away (A..B)"}},
		{"stash", func(w *world) { w.git("stash", "drop", "-q") }, []string{"1 stash dropped"}},
		{"stashes", func(w *world) { w.git("stash", "clear") }, []string{"2 stashes dropped"}},
		{"branches", func(w *world) { w.git("branch", "-D", "a", "b") }, []string{"2 branches deleted"}},
		{"switch", func(w *world) { w.git("checkout", "-q", "a") }, []string{"HEAD: main before, a now"}},
		{"tag", func(w *world) { w.git("tag", "v1") }, []string{"1 tag created"}},
		{"merge", func(w *world) { w.write(".git/MERGE_HEAD", w.git("rev-parse", "HEAD")) }, []string{"merge in progress"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.commit("one")
			w.commit("two")
			w.commit("three")
			w.git("branch", "a")
			w.git("branch", "b")
			for _, text := range []string{"x", "y"} {
				w.write("file", text)
				w.git("stash", "-q")
			}
			before, a := w.read(), w.git("rev-parse", "--short=7", "HEAD")
			c.change(w)
			now, b := w.read(), w.git("rev-parse", "--short=7", "HEAD")
			m := Compare(before, now)
			if c.name == "amend" {
				m.Index = false // git refreshes it
			}
			got := m.Words(func(from, to string) (int, bool) {
				return len(strings.Fields(w.git("rev-list", from+"..."+to))), true
			})
			want := slices.Clone(c.want)
			for i := range want {
				want[i] = strings.NewReplacer("A", a, "B", b, "HEAD", "HEAD").Replace(want[i])
			}
			if m.None() != (len(c.want) == 0) {
				t.Errorf("None is %v", m.None())
			}
			if c.name == "switch" {
				got = slices.DeleteFunc(got, func(s string) bool { return s == "index changed" })
			}
			if !slices.Equal(got, want) {
				t.Errorf("words %q, want %q", got, want)
			}
		})
	}
}

// TestWordsOfMany: many branches are counted, few are named.
func TestWordsOfMany(t *testing.T) {
	t.Parallel()
	refs := func(value string) map[string]string {
		list := make(map[string]string)
		for _, name := range []string{"a", "b", "c", "d"} {
			list["refs/heads/"+name] = strings.Repeat(value, 40)
		}
		return list
	}
	m := Compare(&Record{Refs: refs("1")}, &Record{Refs: refs("2")})
	if got := m.Words(nil); !slices.Equal(got, []string{"4 branches moved"}) {
		t.Errorf("words %q", got)
	}
	if got := Compare(&Record{}, nil).Words(nil); !slices.Equal(got, []string{"the repository is gone"}) {
		t.Errorf("words %q", got)
	}
	if got := Compare(nil, &Record{}).Words(nil); !slices.Equal(got, []string{"the repository is new"}) {
		t.Errorf("words %q", got)
	}
	if !Compare(nil, nil).None() {
		t.Error("no repository differs from no repository")
	}
}
