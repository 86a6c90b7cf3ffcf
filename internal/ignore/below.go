package ignore

import "strings"

// Nearest says what the patterns say about a path: the verdict of the path itself, else that
// of the nearest directory above it that has one.
func (p *Patterns) Nearest(rel string, dir bool) Verdict {
	for rel != "" {
		if v := p.Match(rel, dir); v != None {
			return v
		}
		rel, dir = rel[:max(0, strings.LastIndexByte(rel, '/'))], true
	}
	return None
}

// Leads reports whether a pattern without '!' may match something below the directory. A
// newer pattern with '!' that matches the directory, or one above it, rules that out. A
// pattern without a slash may match everywhere.
func (p *Patterns) Leads(dir string) bool {
	for i := p.Len() - 1; i >= 0; i-- {
		r := &p.rules[i]
		if r.verdict == Ignore && p.mayMatchBelow(r, dir) {
			return true
		}
		if r.verdict == Include && p.covers(r, dir) {
			return false
		}
	}
	return false
}

// covers reports whether a rule matches a directory, or one above it.
func (p *Patterns) covers(r *rule, dir string) bool {
	for dir != "" {
		slash := strings.LastIndexByte(dir, '/')
		if name := dir[slash+1:]; p.matchesByName(r, dir, name) {
			return true
		}
		dir = dir[:max(0, slash)]
	}
	return false
}

// matchesByName is matches for a rule that was not found by its name.
func (p *Patterns) matchesByName(r *rule, rel, name string) bool {
	if r.kind == nameIs && !p.equal(name, r.text) {
		return false
	}
	return p.matches(r, rel, name)
}

// mayMatchBelow reports whether the components of a directory agree with the first
// elements of a rule. A rule that matches the directory matches all below it.
func (p *Patterns) mayMatchBelow(r *rule, dir string) bool {
	for i, component := range strings.Split(dir, "/") {
		switch {
		case i == len(r.elems), r.elems[i].deep:
			return true
		case !p.matchGlob(&r.elems[i].glob, component):
			return false
		}
	}
	return true
}
