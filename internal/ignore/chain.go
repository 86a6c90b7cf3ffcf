package ignore

import "strings"

// Chain is the rules in force inside one directory: the .gitignore files from there
// up to the top, then the sources that belong to no directory. It does not change
// and may be used by several goroutines at once. A nil *Chain ignores nothing.
type Chain struct {
	outer    *Chain // of lower precedence
	dir      string // what patterns are relative to
	patterns *Patterns
}

// NewChain returns the rules in force at the top before its own .gitignore: sources
// whose patterns are relative to the top, the one of highest precedence first. All
// rank below any .gitignore. For git these are info/exclude and core.excludesFile.
func NewChain(fallbacks ...*Patterns) *Chain {
	c := &Chain{}
	for i := len(fallbacks) - 1; i >= 0; i-- {
		c = c.Enter("", fallbacks[i])
	}
	return c
}

// Enter returns the rules in force inside dir, a clean path from the top or "" for
// the top itself, whose .gitignore is p. If p is nil or has no rule, that is c. The
// caller enters directories from the top down, and none that is ignored: git does
// not read rules there.
func (c *Chain) Enter(dir string, p *Patterns) *Chain {
	if p.Len() == 0 {
		return c
	}
	return &Chain{outer: c, dir: dir, patterns: p}
}

// Ignored reports whether the rules exclude path, a clean path from the top. It
// looks at this path alone: the caller has established that no parent is ignored.
func (c *Chain) Ignored(path string, dir bool) bool {
	return c.verdict(path, dir) == Ignore
}

// Covers reports whether path or one of its parent directories is ignored. Rules of
// directories that path is not inside of, or that lie in an ignored directory, do
// not count.
func (c *Chain) Covers(path string, dir bool) bool {
	for i := range len(path) {
		if path[i] == '/' && c.Ignored(path[:i], true) {
			return true
		}
	}
	return c.Ignored(path, dir)
}

// verdict is that of the first source that has one.
func (c *Chain) verdict(path string, dir bool) Verdict {
	base := strings.LastIndexByte(path, '/') + 1
	for ; c != nil; c = c.outer {
		if start, ok := c.inside(path); ok {
			if v := c.patterns.match(path[start:], base-start, dir); v != None {
				return v
			}
		}
	}
	return None
}

// inside returns where the part of path below the directory of c begins.
func (c *Chain) inside(path string) (start int, ok bool) {
	n := len(c.dir)
	if n == 0 {
		return 0, true
	}
	if len(path) <= n || path[n] != '/' || c.patterns == nil || !c.patterns.samePath(path[:n], c.dir) {
		return 0, false
	}
	return n + 1, true
}
