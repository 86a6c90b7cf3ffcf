package ignore

import (
	"slices"
	"strings"
)

// rule is one compiled line.
type rule struct {
	elems   []element
	text    string // a literal, as kind says
	next    int32  // the next older rule of the same list, or nowhere
	kind    kind
	verdict Verdict
	dirOnly bool
}

// kind tells how a rule is compared. The first four cover most lines of real files.
type kind uint8

const (
	nameIs     kind = iota // the name is text
	nameBegins             // text*
	nameEnds               // *text
	pathIs                 // the path is text
	nameGlob               // the name matches the last element
	pathGlob               // the path begins with text and matches all elements
	anything
)

// setElements gives r its elements and finds the cheapest way to compare them.
func (r *rule) setElements(elems []element) {
	elems = slices.CompactFunc(elems, func(a, b element) bool { return a.deep && b.deep })
	r.elems = elems
	r.kind, r.text = pathGlob, literalStart(elems)
	switch {
	case matchesAnything(elems):
		r.kind = anything
	case len(elems) == 2 && elems[0].deep:
		r.kind, r.text = nameKind(&elems[1].glob)
	case !slices.ContainsFunc(elems, func(e element) bool { return e.deep || !e.glob.isLiteral() }):
		r.kind = pathIs
	}
}

func nameKind(g *glob) (kind, string) {
	switch {
	case g.isLiteral():
		return nameIs, g.head()
	case g.isSimple() && g.head() == "":
		return nameEnds, g.tail()
	case g.isSimple() && g.tail() == "":
		return nameBegins, g.head()
	}
	return nameGlob, ""
}

// matchesAnything reports whether elems match each path: any number of components,
// of which none is told more than to be there.
func matchesAnything(elems []element) bool {
	deep, components := false, 0
	for _, e := range elems {
		if e.deep {
			deep = true
		} else if components++; components > 1 || e.glob.length > 0 {
			return false
		}
	}
	return deep
}

// literalStart returns what every path that elems match begins with.
func literalStart(elems []element) string {
	var b strings.Builder
	for i, e := range elems {
		if e.deep {
			break
		}
		b.WriteString(e.glob.head())
		if !e.glob.isLiteral() {
			break
		}
		if i < len(elems)-1 { // a deep element at the end follows a component of its own
			b.WriteByte('/')
		}
	}
	return b.String()
}

// last returns the glob that the name itself has to match. For a rule that ends in
// a deep element that is none, and the result has no chunks.
func (r *rule) last() *glob { return &r.elems[len(r.elems)-1].glob }

// matches reports whether r matches the path rel, whose last component is name. A
// rule of the kind nameIs was found by its name.
func (p *Patterns) matches(r *rule, rel, name string) bool {
	switch r.kind {
	case nameIs, anything:
		return true
	case nameBegins:
		return p.hasPrefix(name, r.text)
	case nameEnds:
		return p.hasSuffix(name, r.text)
	case pathIs:
		return p.equal(rel, r.text)
	case nameGlob:
		return p.matchGlob(r.last(), name)
	}
	return p.hasPrefix(rel, r.text) && p.matchPath(r.elems, rel)
}

// matchPath reports whether elems match all components of rel. When a component
// fails, the last deep element before it takes one more; an earlier one never needs
// to, since whatever it would skip the last one can skip as well.
func (p *Patterns) matchPath(elems []element, rel string) bool {
	e, at := 0, 0           // the next element, where the next component begins
	retry, retryAt := -1, 0 // behind the last deep element, and where it stopped
	for {
		if e < len(elems) && elems[e].deep {
			e++
			if e == len(elems) {
				return true
			}
			retry, retryAt = e, at
		}
		if at > len(rel) {
			return e == len(elems)
		}
		if e < len(elems) {
			if end := componentEnd(rel, at); p.matchGlob(&elems[e].glob, rel[at:end]) {
				e, at = e+1, end+1
				continue
			}
		}
		if retry < 0 {
			return false
		}
		retryAt = componentEnd(rel, retryAt) + 1
		if retryAt > len(rel) {
			return false
		}
		e, at = retry, retryAt
	}
}

// componentEnd returns where the component that begins at the given place ends.
func componentEnd(rel string, at int) int {
	if n := strings.IndexByte(rel[at:], '/'); n >= 0 {
		return at + n
	}
	return len(rel)
}
