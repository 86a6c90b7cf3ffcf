package ignore

import "testing"

func TestLeads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, dir string
		want      bool
	}{
		{".env", "node_modules/a", true},
		{"/.env", "node_modules", false},
		{"build/keep/*.conf", "build", true},
		{"build/keep/*.conf", "build/keep", true},
		{"build/keep/*.conf", "build/other", false},
		{"build/keep/*.conf", "node_modules", false},
		{"build/", "build/a/b", true},
		{"b?ild/x", "build", true},
		{"a/**/z", "a/b/c", true},
		{"a/**/z", "b", false},
		{"**/z", "b", true},
		{".env\n!node_modules/", "node_modules", false},
		{".env\n!node_modules/", "node_modules/a", false},
		{".env\n!node_modules/", "build", true},
		{"!node_modules/\nnode_modules/keep/x", "node_modules", true},
		{"!node_modules/\nnode_modules/keep/x", "node_modules/other", false},
		{"", "a", false},
		{"# .env", "a", false},
	} {
		if got := Parse([]byte(c.text+"\n"), false).Leads(c.dir); got != c.want {
			t.Errorf("%q leads below %s: %v", c.text, c.dir, got)
		}
	}
	if !Parse([]byte("BUILD/x\n"), true).Leads("build") {
		t.Error("case counts where it is folded")
	}
	if (*Patterns)(nil).Leads("a") {
		t.Error("no patterns lead somewhere")
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	p := Parse([]byte("build/\n!build/cache/\n*.env\n"), false)
	for path, want := range map[string]Verdict{
		"build/a": Ignore, "build/d/a": Ignore, "build/cache/a": Include, "build/cache/x.env": Ignore, "src/a": None, "x.env": Ignore,
	} {
		if got := p.Nearest(path, false); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}

// What a pattern matches, it leads to: each directory above.
func FuzzLeads(f *testing.F) {
	f.Add("a/*/c\n", "a/b/c")
	f.Add("x\n!a/b\n**/c\n", "a/b/c")
	f.Fuzz(func(t *testing.T, text, path string) {
		if len(text) > 200 || len(path) > 200 || path == "" || path[0] == '/' {
			return
		}
		p := Parse([]byte(text), false)
		negated := false
		for i := range p.rules {
			negated = negated || p.rules[i].verdict == Include
		}
		if negated || p.Match(path, false) != Ignore {
			return
		}
		for i := range path {
			if path[i] == '/' && !p.Leads(path[:i]) {
				t.Fatalf("%q matches %q and does not lead through %q", text, path, path[:i])
			}
		}
	})
}
