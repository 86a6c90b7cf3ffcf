package ignore

import (
	"strings"
	"sync"
	"testing"
)

// rules is a world with one .gitignore at the top.
func rules(text ...string) world {
	return world{rules: map[string]string{"": strings.Join(text, "\n")}}
}

func folding(text ...string) world {
	w := rules(text...)
	w.fold = true
	return w
}

func paths(p ...string) []string { return p }

// question collects cases to ask git about.
type question struct {
	world world
	paths []string
	want  []Verdict
}

func newQuestion(fold bool) *question {
	return &question{world: world{fold: fold, rules: map[string]string{}}}
}

// add adds a case below the directory top, which is "" or ends in a slash.
func (q *question) add(c *tableCase, top string) {
	for dir, text := range c.world.rules {
		q.world.rules[strings.TrimSuffix(top+dir, "/")] = text
	}
	paths, want := c.wanted()
	for _, path := range paths {
		q.paths = append(q.paths, top+path)
	}
	q.want = append(q.want, want...)
}

// ask asks git. A path cannot be a file and a directory at once, so that files where
// there is a directory, too, are asked about in a second repository.
func (q *question) ask(t *testing.T) {
	t.Helper()
	dirs := map[string]bool{}
	for _, path := range q.paths {
		for i := range len(path) {
			if path[i] == '/' && strings.HasSuffix(path, "/") {
				dirs[path[:i]] = true
			}
		}
	}
	var asked [2]question
	for i, path := range q.paths {
		n := 0
		if dirs[path] {
			n = 1
		}
		asked[n].paths = append(asked[n].paths, path)
		asked[n].want = append(asked[n].want, q.want[i])
	}
	for _, a := range asked {
		if len(a.paths) == 0 {
			continue
		}
		for i, got := range q.world.ask(t, a.paths) {
			if got != a.want[i] {
				t.Errorf("git says %v of %q, want %v\n%v", got, a.paths[i], a.want[i], q.world.part(a.paths[i]))
			}
		}
	}
}

// TestNamedClasses asks git about every named class and every byte.
func TestNamedClasses(t *testing.T) {
	t.Parallel()
	needGit(t)
	needAnyName(t)
	for _, fold := range []bool{false, true} {
		w := world{fold: fold, rules: map[string]string{}}
		var paths []string
		for class := range classes {
			w.rules[class] = "[[:" + class + ":]]"
			w.rules["not"+class] = "[!a[:" + class + ":]B-D]"
			for b := 1; b < 256; b++ {
				if b != '/' && b != '.' {
					paths = append(paths, class+"/"+string([]byte{byte(b)}), "not"+class+"/"+string([]byte{byte(b)}))
				}
			}
		}
		compare(t, &w, paths)
	}
}

func TestEmptyRules(t *testing.T) {
	t.Parallel()
	var none *Patterns
	if none.Len() != 0 || none.Match("a", false) != None {
		t.Error("nil patterns have lines")
	}
	var nowhere *Chain
	if nowhere.Ignored("a", false) || nowhere.Covers("a/b", true) {
		t.Error("a nil chain ignores something")
	}
	c := NewChain(nil, Parse(nil, false), none)
	if c.Ignored("a", false) || c.Covers("a/b", true) {
		t.Error("an empty chain ignores something")
	}
	if c.Enter("a", nil) != c || c.Enter("a", Parse([]byte("# b\n[\n"), false)) != c {
		t.Error("entering a directory without rules makes a new chain")
	}
	if c := nowhere.Enter("a", Parse([]byte("b"), false)); !c.Ignored("a/b", false) || c.Ignored("b", false) {
		t.Error("rules were not added to a nil chain")
	}
}

func TestLen(t *testing.T) {
	t.Parallel()
	text := "# comment\n\n  \na\n!b\nc/\n[\nd\\\n//\ne"
	if got := Parse([]byte(text), false).Len(); got != 4 {
		t.Errorf("got %d lines, want 4", got)
	}
	text = "A\n\\A\n[A]\n[[:upper:]]\n\\a\n[b-a]"
	if got := Parse([]byte(text), true).Len(); got != 4 {
		t.Errorf("got %d lines with folding, want 4", got)
	}
}

// TestBranches checks that chains that grow from one do not see each other.
func TestBranches(t *testing.T) {
	t.Parallel()
	top := NewChain().Enter("", Parse([]byte("x"), false))
	a := top.Enter("a", Parse([]byte("!x"), false))
	b := top.Enter("b", Parse([]byte("y"), false))
	folding := top.Enter("Sub", Parse([]byte("y"), true))
	for _, c := range []struct {
		chain *Chain
		path  string
		want  bool
	}{
		{top, "a/x", true}, {top, "b/y", false},
		{a, "a/x", false}, {a, "b/x", true}, {a, "b/y", false}, {a, "ab/x", true}, {a, "a", false},
		{b, "b/x", true}, {b, "b/y", true}, {b, "a/x", true}, {b, "a/y", false},
		{b, "B/y", false}, {folding, "Sub/y", true}, {folding, "sUB/Y", true}, {folding, "Sun/y", false}, {folding, "\u017fub/y", false},
	} {
		if got := c.chain.Ignored(c.path, false); got != c.want {
			t.Errorf("%q: got %v, want %v", c.path, got, c.want)
		}
	}
}

// TestOddPaths feeds paths that no walker should hand in.
func TestOddPaths(t *testing.T) {
	t.Parallel()
	for _, fold := range []bool{false, true} {
		p := Parse([]byte("a\n*b\nc*\n*\n/x/**/y\n**\n!?\n[!a]\n/*/\nx/*"), fold)
		c := NewChain(p).Enter("a", p).Enter("a/", p)
		for _, path := range []string{"", "/", "//", "a/", "/a", "a//", "a//b", ".", "..", "../a", "\x00", "a/\x00", strings.Repeat("/", 300), strings.Repeat("X", 5000)} {
			for _, dir := range []bool{false, true} {
				p.Match(path, dir)
				c.Ignored(path, dir)
				c.Covers(path, dir)
			}
		}
	}
}

// TestShared uses one chain in several goroutines, for the race detector.
func TestShared(t *testing.T) {
	t.Parallel()
	p := Parse([]byte(realistic), true)
	top := NewChain(p)
	want := top.Covers("src/Node_Modules/x", false)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, dir := range []string{"src", "src/a", "b"} {
				c := top.Enter(dir, p)
				c.Ignored(dir+"/x.O", false)
				if got := c.Covers("src/Node_Modules/x", false); got != want || !got {
					t.Errorf("%s: got %v", dir, got)
				}
			}
		})
	}
	group.Wait()
}
