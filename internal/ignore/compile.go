package ignore

import (
	"slices"
	"strings"
)

// compiler turns lines into rules. It keeps the sets of the classes met so far, so
// that equal ones share their place.
type compiler struct {
	fold bool
	sets []byteSet
	seen map[byteSet]atom
}

// An element of a path pattern matches one path component, or, if it is deep, any
// number of them, none included.
type element struct {
	deep bool
	glob glob
}

// anyComponent is the element that "*" alone compiles to.
func anyComponent() element {
	return element{glob: glob{chunks: make([]chunk, 2)}}
}

// rule compiles one line. It reports false if the line can match no path.
func (c *compiler) rule(line string) (rule, bool) {
	r := rule{verdict: Ignore}
	if rest, ok := strings.CutPrefix(line, "!"); ok {
		r.verdict, line = Include, rest
	}
	if rest, ok := strings.CutSuffix(line, "/"); ok {
		r.dirOnly, line = true, rest
	}
	// Any slash but the last ties the pattern to its directory, even one that is
	// escaped or inside a class.
	anchored := strings.Contains(line, "/")
	elems, ok := c.path(strings.TrimPrefix(line, "/"))
	if !ok {
		return rule{}, false
	}
	if !anchored {
		elems = slices.Insert(elems, 0, element{deep: true})
	}
	r.setElements(elems)
	return r, true
}

// path compiles a pattern without its '!', its first and its last slash. It reports
// false for one that matches no path: with an unfinished class or escape, an unknown
// class name, an empty component, or nothing at all.
func (c *compiler) path(pattern string) ([]element, bool) {
	var elems []element
	for more := true; more; {
		if n, least := doubleStar(pattern); n > 0 {
			if least > 0 {
				elems = append(elems, anyComponent())
			}
			elems = append(elems, element{deep: true})
			more = strings.HasSuffix(pattern[:n], "/")
			pattern = pattern[n:]
			continue
		}
		g, n, ok := c.component(pattern)
		if !ok {
			return nil, false
		}
		elems = append(elems, element{glob: g})
		more = strings.HasSuffix(pattern[:n], "/")
		pattern = pattern[n:]
	}
	return elems, true
}

// doubleStar recognises two or more stars that are a whole component. It returns the
// length of them and the slash behind, and how many components they match at least:
// before a plain slash none; at the end and before an escaped slash one.
func doubleStar(pattern string) (n, least int) {
	rest := strings.TrimLeft(pattern, "*")
	n = len(pattern) - len(rest)
	switch {
	case n < 2:
		return 0, 0
	case rest == "":
		return n, 1
	case strings.HasPrefix(rest, "/"):
		return n + 1, 0
	case strings.HasPrefix(rest, `\/`):
		return n + 2, 1
	}
	return 0, 0
}

// component compiles the pattern up to and including its next slash and returns the
// length of that.
func (c *compiler) component(pattern string) (g glob, n int, ok bool) {
	var atoms []atom
	for n < len(pattern) {
		if pattern[n] == '*' {
			g.add(atoms)
			atoms = nil
			n += len(pattern[n:]) - len(strings.TrimLeft(pattern[n:], "*"))
			continue
		}
		a, size, ok := c.atom(pattern[n:])
		if !ok {
			return g, 0, false
		}
		n += size
		if a == '/' {
			break
		}
		atoms = append(atoms, a)
	}
	g.add(atoms)
	return g, n, g.length > 0 || len(g.chunks) > 1
}

// atom compiles what the pattern begins with, other than a star, and returns its
// length. It reports false for what matches nothing.
func (c *compiler) atom(pattern string) (a atom, size int, ok bool) {
	switch pattern[0] {
	case '?':
		return anyByte, 1, true
	case '[':
		set, size, ok := parseClass(pattern, c.fold)
		if !ok || set.isEmpty() {
			return 0, 0, false
		}
		return c.intern(set), size, true
	case '\\':
		// Names are folded before they are compared; in git an escaped letter is not.
		if len(pattern) < 2 || c.fold && isUpper(pattern[1]) {
			return 0, 0, false
		}
		return atom(pattern[1]), 2, true
	}
	return atom(folded(pattern[0], c.fold)), 1, true
}

// intern returns the atom of a set, which is the byte itself for a set of one.
func (c *compiler) intern(set byteSet) atom {
	if b, ok := set.only(); ok {
		return atom(b)
	}
	a, ok := c.seen[set]
	if !ok {
		if c.seen == nil {
			c.seen = make(map[byteSet]atom)
		}
		a = firstSet + atom(len(c.sets))
		c.seen[set] = a
		c.sets = append(c.sets, set)
	}
	return a
}
