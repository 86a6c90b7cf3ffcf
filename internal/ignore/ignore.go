package ignore

import "strings"

// Verdict is what a list of patterns says about a path.
type Verdict int8

const (
	None    Verdict = iota // no pattern matches
	Ignore                 // the last pattern that matches excludes the path
	Include                // the last pattern that matches begins with '!'
)

// Patterns are the compiled lines of one source: a .gitignore file, info/exclude or
// the like. They do not change and may be used by several goroutines at once. A nil
// *Patterns has no line.
type Patterns struct {
	rules []rule // in the order of the lines
	sets  []byteSet
	fold  bool

	// Each rule is a member of one list, newest first, so that a path is compared
	// only with rules that may match it: those whose last component is a literal are
	// found by it, those that end in a literal byte by that byte.
	named  map[string]int32
	tails  *[tailLists]int32
	others int32
}

// tailLists is the number of lists for rules that end in a literal byte. Two bytes
// may share one.
const tailLists = 64

// nowhere ends a list of rules.
const nowhere int32 = -1

// Parse compiles the text of a rule file. It never fails: as in git, a line that
// makes no sense matches nothing. foldCase is core.ignoreCase.
func Parse(text []byte, foldCase bool) *Patterns {
	p := &Patterns{fold: foldCase, others: nowhere}
	c := compiler{fold: foldCase}
	for line := range lines(string(text)) {
		if r, ok := c.rule(line); ok {
			p.add(r)
		}
	}
	p.sets = c.sets
	return p
}

// Len returns the number of lines that can match something.
func (p *Patterns) Len() int {
	if p == nil {
		return 0
	}
	return len(p.rules)
}

// Match says what the last line that matches rel says about it. rel is a clean path
// relative to the directory that the patterns belong to, with '/' between its
// components; dir tells whether it is a directory (a symlink to one is not). The
// parents of rel are not looked at.
func (p *Patterns) Match(rel string, dir bool) Verdict {
	return p.match(rel, strings.LastIndexByte(rel, '/')+1, dir)
}

// match is Match for a path whose last component begins at base.
func (p *Patterns) match(rel string, base int, dir bool) Verdict {
	if p.Len() == 0 {
		return None
	}
	name, best := rel[base:], nowhere
	if p.named != nil {
		best = p.newest(p.lookup(name), best, rel, name, dir)
	}
	if p.tails != nil && name != "" {
		best = p.newest(p.tails[p.tailList(name[len(name)-1])], best, rel, name, dir)
	}
	best = p.newest(p.others, best, rel, name, dir)
	if best == nowhere {
		return None
	}
	return p.rules[best].verdict
}

// newest returns the newest rule of the list from i on that matches, or best if that
// is newer.
func (p *Patterns) newest(i, best int32, rel, name string, dir bool) int32 {
	for i > best {
		r := &p.rules[i]
		if (dir || !r.dirOnly) && p.matches(r, rel, name) {
			return i
		}
		i = r.next
	}
	return best
}

// add appends a rule and puts it in front of its list.
func (p *Patterns) add(r rule) {
	at := int32(len(p.rules))
	last := r.last()
	switch b, ends := last.lastByte(); {
	case last.isLiteral():
		r.next = p.lookup(last.head())
		if p.named == nil {
			p.named = make(map[string]int32)
		}
		p.named[last.head()] = at
	case ends:
		if p.tails == nil {
			p.tails = noTails()
		}
		list := &p.tails[p.tailList(b)]
		r.next, *list = *list, at
	default:
		r.next, p.others = p.others, at
	}
	p.rules = append(p.rules, r)
}

func noTails() *[tailLists]int32 {
	var t [tailLists]int32
	for i := range t {
		t[i] = nowhere
	}
	return &t
}

// tailList returns the number of the list for rules that end in b.
func (p *Patterns) tailList(b byte) byte { return folded(b, p.fold) % tailLists }

// lookup returns the newest rule whose last component is name.
func (p *Patterns) lookup(name string) int32 {
	i, ok := int32(0), false
	if p.fold {
		i, ok = p.lookupFolded(name)
	} else {
		i, ok = p.named[name]
	}
	if !ok {
		return nowhere
	}
	return i
}

// lookupFolded needs memory only for names that no common file system allows.
func (p *Patterns) lookupFolded(name string) (int32, bool) {
	var buf [256]byte
	key := buf[:0]
	for i := range len(name) {
		key = append(key, folded(name[i], true))
	}
	i, ok := p.named[string(key)]
	return i, ok
}
