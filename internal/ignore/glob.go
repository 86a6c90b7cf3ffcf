package ignore

import "strings"

// An atom matches one byte: the byte itself, any byte, or a byte of
// sets[atom-firstSet].
type atom int32

const (
	anyByte  atom = 256
	firstSet atom = 257
)

// A chunk matches a fixed number of bytes. Without atoms it is a literal.
type chunk struct {
	literal string
	atoms   []atom
}

func (c *chunk) length() int { return len(c.literal) + len(c.atoms) }

// A glob matches one path component: chunks with any text between them. A chunk
// alone is the whole component; a star at an end of the pattern has an empty chunk
// there.
type glob struct {
	chunks []chunk
	length int // of all chunks
}

// add appends a chunk.
func (g *glob) add(atoms []atom) {
	g.length += len(atoms)
	literal := make([]byte, len(atoms))
	for i, a := range atoms {
		if a >= anyByte {
			g.chunks = append(g.chunks, chunk{atoms: atoms})
			return
		}
		literal[i] = byte(a)
	}
	g.chunks = append(g.chunks, chunk{literal: string(literal)})
}

// isLiteral reports whether g matches one name only: head().
func (g *glob) isLiteral() bool {
	return len(g.chunks) == 1 && g.chunks[0].atoms == nil
}

// head returns the literal that all matches begin with, tail the one they end in;
// either may be empty.
func (g *glob) head() string { return g.chunks[0].literal }
func (g *glob) tail() string { return g.chunks[len(g.chunks)-1].literal }

// lastByte returns the byte that all matches end in, if there is one.
func (g *glob) lastByte() (byte, bool) {
	if len(g.chunks) == 0 {
		return 0, false
	}
	c := &g.chunks[len(g.chunks)-1]
	if n := len(c.literal); n > 0 {
		return c.literal[n-1], true
	}
	if n := len(c.atoms); n > 0 && c.atoms[n-1] < anyByte {
		return byte(c.atoms[n-1]), true
	}
	return 0, false
}

// isSimple reports whether head and tail with a star between them are all of g.
func (g *glob) isSimple() bool {
	return len(g.chunks) == 2 && g.chunks[0].atoms == nil && g.chunks[1].atoms == nil
}

// matchGlob reports whether g matches the component s. Since a chunk has a fixed
// length, taking its first place is always right, so there is nothing to go back to.
func (p *Patterns) matchGlob(g *glob, s string) bool {
	last := len(g.chunks) - 1
	if len(s) < g.length || last == 0 && len(s) > g.length {
		return false
	}
	if !p.beginsWith(s, &g.chunks[0]) {
		return false
	}
	s = s[g.chunks[0].length():]
	if last == 0 {
		return true
	}
	end := len(s) - g.chunks[last].length()
	if !p.beginsWith(s[end:], &g.chunks[last]) {
		return false
	}
	s = s[:end]
	for i := 1; i < last; i++ {
		c := &g.chunks[i]
		at := p.find(s, c)
		if at < 0 {
			return false
		}
		s = s[at+c.length():]
	}
	return true
}

// find returns the first place of c in s, or -1.
func (p *Patterns) find(s string, c *chunk) int {
	if c.atoms == nil && !p.fold {
		return strings.Index(s, c.literal)
	}
	for i := 0; i+c.length() <= len(s); i++ {
		if p.beginsWith(s[i:], c) {
			return i
		}
	}
	return -1
}

// beginsWith reports whether s, which is long enough, begins with c.
func (p *Patterns) beginsWith(s string, c *chunk) bool {
	if c.atoms == nil {
		return p.equal(s[:len(c.literal)], c.literal)
	}
	for i, a := range c.atoms {
		switch b := folded(s[i], p.fold); {
		case a < anyByte:
			if atom(b) != a {
				return false
			}
		case a >= firstSet:
			if !p.sets[a-firstSet].has(b) {
				return false
			}
		}
	}
	return true
}

// equal reports whether s is the literal; with fold, in any case.
func (p *Patterns) equal(s, literal string) bool {
	if !p.fold {
		return s == literal
	}
	if len(s) != len(literal) {
		return false
	}
	for i := range len(s) {
		if folded(s[i], true) != literal[i] {
			return false
		}
	}
	return true
}

// samePath reports whether a and b name the same file.
func (p *Patterns) samePath(a, b string) bool {
	if a == b || !p.fold || len(a) != len(b) {
		return a == b
	}
	for i := range len(a) {
		if folded(a[i], true) != folded(b[i], true) {
			return false
		}
	}
	return true
}

func (p *Patterns) hasPrefix(s, literal string) bool {
	return len(s) >= len(literal) && p.equal(s[:len(literal)], literal)
}

func (p *Patterns) hasSuffix(s, literal string) bool {
	return len(s) >= len(literal) && p.equal(s[len(s)-len(literal):], literal)
}
