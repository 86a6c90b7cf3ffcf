package ignore

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, cases := range tables {
		for _, c := range cases {
			f.Add([]byte(c.world.rules[""]), c.world.fold)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, fold bool) {
		p := Parse(text, fold)
		if most := strings.Count(string(text), "\n") + 1; p.Len() > most {
			t.Errorf("%d patterns in %d lines", p.Len(), most)
		}
		if again := Parse(text, fold); !reflect.DeepEqual(p, again) {
			t.Error("two results of one text")
		}
		if more := Parse(slices.Concat(text, []byte("\n# end\n\n")), fold); !reflect.DeepEqual(p, more) {
			t.Error("lines without a pattern change the result")
		}
		for line := range lines(string(text)) {
			for _, dir := range []bool{false, true} {
				p.Match(line, dir)
				p.Match(strings.Trim(line, "/*"), dir)
			}
		}
	})
}

// FuzzMatch compares the matcher with a plain one that was written from the manual,
// line by line, so that it also checks the lists by which rules are found.
func FuzzMatch(f *testing.F) {
	for _, cases := range tables {
		for _, c := range cases {
			paths, _ := c.wanted()
			for _, path := range paths {
				f.Add(c.world.rules[""], strings.TrimSuffix(path, "/"), strings.HasSuffix(path, "/"), c.world.fold)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text, rel string, dir, fold bool) {
		p := Parse([]byte(text), fold)
		got := p.Match(rel, dir)
		if again := p.Match(rel, dir); got != again {
			t.Errorf("first %v, then %v", got, again)
		}
		if len(text) > 500 || len(rel) > 500 || !isClean(rel) {
			return
		}
		if want := plainMatch(text, rel, dir, fold); got != want {
			t.Errorf("%q, %q, dir %v, fold %v: got %v, want %v", text, rel, dir, fold, got, want)
		}
	})
}

func isClean(rel string) bool {
	return !slices.Contains(strings.Split(rel, "/"), "")
}

// plainMatch tries each line on its own.
func plainMatch(text, rel string, dir, fold bool) Verdict {
	verdict := None
	for line := range lines(text) {
		v := Ignore
		if rest, ok := strings.CutPrefix(line, "!"); ok {
			v, line = Include, rest
		}
		if rest, ok := strings.CutSuffix(line, "/"); ok {
			if line = rest; !dir {
				continue
			}
		}
		m := plain{pattern: strings.TrimPrefix(line, "/"), text: rel, fold: fold, failed: map[[2]int]bool{}}
		if !strings.Contains(line, "/") {
			m.text = rel[strings.LastIndexByte(rel, '/')+1:]
		}
		if m.pattern != "" && m.match(0, 0) {
			verdict = v
		}
	}
	return verdict
}

// plain matches a pattern with a whole text by trying everything. It shares the
// reading of classes with the package; those are proved by asking git.
type plain struct {
	pattern, text string
	fold          bool
	failed        map[[2]int]bool
}

// match compares the rest of the pattern with the rest of the text.
func (m *plain) match(i, j int) bool {
	if i == len(m.pattern) {
		return j == len(m.text)
	}
	if m.failed[[2]int{i, j}] {
		return false
	}
	ok := m.try(i, j)
	m.failed[[2]int{i, j}] = !ok
	return ok
}

func (m *plain) try(i, j int) bool {
	if m.pattern[i] == '*' {
		return m.star(i, j)
	}
	if j == len(m.text) {
		return false
	}
	b := folded(m.text[j], m.fold)
	switch m.pattern[i] {
	case '?':
		return b != '/' && m.match(i+1, j+1)
	case '[':
		set, n, ok := parseClass(m.pattern[i:], m.fold)
		return ok && set.has(b) && m.match(i+n, j+1)
	case '\\':
		return i+1 < len(m.pattern) && m.pattern[i+1] == b && m.match(i+2, j+1)
	}
	return folded(m.pattern[i], m.fold) == b && m.match(i+1, j+1)
}

func (m *plain) star(i, j int) bool {
	rest := strings.TrimLeft(m.pattern[i:], "*")
	next := len(m.pattern) - len(rest)
	deep := next-i > 1 && (i == 0 || m.pattern[i-1] == '/') &&
		(rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
	if deep && rest != "" && rest[0] == '/' && m.match(next+1, j) {
		return true
	}
	for ; j < len(m.text) && (deep || m.text[j] != '/'); j++ {
		if m.match(next, j) {
			return true
		}
	}
	return m.match(next, j)
}

// TestNoBlowUp would not end if a star that fails made the ones before it try again.
func TestNoBlowUp(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 5000)
	deep := strings.Repeat("a/", 2000)
	for _, c := range []struct{ pattern, path string }{
		{strings.Repeat("a*", 200) + "b", long},
		{strings.Repeat("*a", 200) + "*b", long},
		{strings.Repeat("*?", 200) + "b", long},
		{strings.Repeat("[ab]*", 200) + "c", long},
		{strings.Repeat("**", 2000) + "b", long},
		{strings.Repeat("**/a/", 200) + "b", deep + "a"},
		{strings.Repeat("**/", 2000) + "b", deep + "a"},
		{strings.Repeat("**/*/", 200) + "b", deep + "a"},
		{strings.Repeat("**/a*a*/", 100) + "b", strings.Repeat(strings.Repeat("a", 50)+"/", 200) + "a"},
		{strings.Repeat("**/*a*a*a*a*b/", 20) + "**", strings.Repeat(strings.Repeat("a", 200)+"/", 20) + "a"},
		{"/" + strings.Repeat("*a*/", 100) + "**/" + strings.Repeat("*a/", 100) + "b", deep + "a"},
	} {
		for _, fold := range []bool{false, true} {
			if v := Parse([]byte(c.pattern), fold).Match(c.path, false); v != None {
				t.Errorf("%.40q matches %.40q", c.pattern, c.path)
			}
		}
	}
}
