package ignore

import (
	"math/bits"
	"strings"
)

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *byteSet) remove(b byte)   { s[b>>6] &^= 1 << (b & 63) }
func (s *byteSet) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }
func (s *byteSet) isEmpty() bool   { return *s == byteSet{} }

// only returns the member of a set that has exactly one.
func (s *byteSet) only() (b byte, ok bool) {
	for i, word := range s {
		switch {
		case word == 0:
		case ok || bits.OnesCount64(word) > 1:
			return 0, false
		default:
			b, ok = byte(i<<6+bits.TrailingZeros64(word)), true
		}
	}
	return b, ok
}

// addRange adds the bytes from lo to hi. With fold, where the set will only be asked
// for folded bytes, a lower-case letter is in it also if its upper-case form is.
func (s *byteSet) addRange(lo, hi byte, fold bool) {
	for b := int(lo); b <= int(hi); b++ {
		s.add(byte(b))
		if fold {
			s.add(folded(byte(b), true))
		}
	}
}

// classScanner reads one bracket expression.
type classScanner struct {
	text string
	at   int
	fold bool
	set  byteSet
	last int // the member that a '-' makes a range of, or noMember
}

const noMember = -1

// parseClass reads the bracket expression that the pattern begins with and returns the bytes it
// matches and its length. It reports false for one without an end or with an unknown class name; in
// git, such a pattern matches nothing.
//
// With fold the set is meant for folded bytes. Ranges and named classes fold, single
// upper-case letters do not (and so are never matched): that is what git does.
func parseClass(pattern string, fold bool) (byteSet, int, bool) {
	s := classScanner{text: pattern, at: 1, fold: fold, last: noMember}
	negated := s.at < len(pattern) && (pattern[s.at] == '!' || pattern[s.at] == '^')
	if negated {
		s.at++
	}
	for start := s.at; ; {
		if s.at >= len(pattern) {
			return byteSet{}, 0, false
		}
		if pattern[s.at] == ']' && s.at > start {
			break
		}
		if !s.member() {
			return byteSet{}, 0, false
		}
	}
	return s.result(negated), s.at + 1, true
}

// result is the set as matched: never a slash, and nothing that folding removes.
func (s *classScanner) result(negated bool) byteSet {
	if negated {
		for i := range s.set {
			s.set[i] = ^s.set[i]
		}
	}
	s.set.remove('/')
	if s.fold {
		for b := byte('A'); b <= 'Z'; b++ {
			s.set.remove(b)
		}
	}
	return s.set
}

// member reads one member: a byte, the rest of a range, or a named class.
func (s *classScanner) member() bool {
	rest := s.text[s.at:]
	switch {
	case rest[0] == '-' && s.last != noMember && len(rest) > 1 && rest[1] != ']':
		s.at++
		hi, ok := s.byte()
		if ok {
			s.set.addRange(byte(s.last), hi, s.fold)
		}
		s.last = noMember
		return ok
	case strings.HasPrefix(rest, "[:"):
		name, _, ok := strings.Cut(rest[2:], "]")
		if !ok {
			return false
		}
		if name, ok := strings.CutSuffix(name, ":"); ok {
			s.at += len("[:" + name + ":]")
			s.last = noMember
			return s.named(name)
		}
	}
	b, ok := s.byte()
	s.set.add(b)
	s.last = int(b)
	return ok
}

// byte reads one byte, escaped or not.
func (s *classScanner) byte() (byte, bool) {
	if s.text[s.at] == '\\' {
		s.at++
	}
	if s.at >= len(s.text) {
		return 0, false
	}
	s.at++
	return s.text[s.at-1], true
}

// classes are the members of the named classes, as ranges. They are those of git,
// whatever the locale: ASCII only, and neither \v nor \f is a space.
var classes = map[string]string{
	"alnum":  "09AZaz",
	"alpha":  "AZaz",
	"blank":  "\t\t  ",
	"cntrl":  "\x01\x1f\x7f\x7f",
	"digit":  "09",
	"graph":  "!~",
	"lower":  "az",
	"print":  " ~",
	"punct":  "!/:@[`{~",
	"space":  "\t\n\r\r  ",
	"upper":  "AZ",
	"xdigit": "09AFaf",
}

func (s *classScanner) named(name string) bool {
	ranges, ok := classes[name]
	for i := 0; i < len(ranges); i += 2 {
		s.set.addRange(ranges[i], ranges[i+1], s.fold)
	}
	return ok
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }

// folded returns b as names are compared: with fold, ASCII letters in lower case.
func folded(b byte, fold bool) byte {
	if fold && isUpper(b) {
		return b + ('a' - 'A')
	}
	return b
}
