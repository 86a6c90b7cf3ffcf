package syntax

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Kind says what a token is.
type Kind uint8

// The kinds. Text between tokens is plain.
const (
	Comment Kind = iota + 1
	String
	Number
	Keyword
	Type // a name of a type, or what looks like one
	Call // a name that is called
	Key  // a name that something is assigned to: a JSON key, an attribute
)

// Token is bytes [Start,End) of a line. Tokens do not overlap and come in order.
type Token struct {
	Start, End int
	Kind       Kind
}

// Scanner reads the lines of one file, in order.
type Scanner struct {
	lang *Language
	open *span // what the last line left open
	tag  bool  // in markup: inside < and >
	word bool  // in markup: the tag's name is still to come

	line   []byte
	at     int
	tokens []Token
}

// NewScanner returns a scanner at the beginning of a file. A nil language has no
// tokens.
func NewScanner(l *Language) *Scanner { return &Scanner{lang: l} }

// Line returns the tokens of the next line, which may end with '\n'. They are valid
// until the next call.
func (s *Scanner) Line(line []byte) []Token {
	s.line, s.at, s.tokens = bytes.TrimRight(line, "\r\n"), 0, s.tokens[:0]
	if s.lang == nil {
		return nil
	}
	if s.open == nil && s.wholeLine() {
		return s.tokens
	}
	for s.at < len(s.line) {
		s.next()
	}
	if s.open != nil && !s.open.multi {
		s.open = nil
	}
	return s.tokens
}

// next takes one token, or one byte that belongs to none.
func (s *Scanner) next() {
	switch c := s.line[s.at]; {
	case s.open != nil:
		s.inside(s.at)
	case s.opens():
	case s.lang.markup:
		s.markup(c)
	case isDigit(c):
		s.consume(Number, isNumber)
	case s.isWord(c):
		s.name()
	default:
		s.at++
	}
}

func (s *Scanner) add(from int, kind Kind) {
	if s.at > from {
		s.tokens = append(s.tokens, Token{from, s.at, kind})
	}
}

func (s *Scanner) consume(kind Kind, belongs func(byte) bool) {
	from := s.at
	for s.at++; s.at < len(s.line) && belongs(s.line[s.at]); s.at++ {
	}
	s.add(from, kind)
}

// opens takes a comment or a string that begins here, as far as this line goes.
func (s *Scanner) opens() bool {
	for i := range s.lang.spans {
		sp := &s.lang.spans[i]
		if !bytes.HasPrefix(s.line[s.at:], sp.open) || !s.mayOpen(sp) {
			continue
		}
		from := s.at
		s.at += len(sp.open)
		s.open = sp
		s.inside(from)
		return true
	}
	return false
}

// mayOpen tells what looks like the beginning of a span from what is one.
func (s *Scanner) mayOpen(sp *span) bool {
	rest := s.line[s.at+len(sp.open):]
	switch {
	case sp.atStart && len(bytes.TrimLeft(s.line[:s.at], " \t")) > 0:
		return false
	case sp.afterSpace && s.at > 0 && !isSpace(s.line[s.at-1]):
		return false
	case sp.inTag && !s.tag:
		return false
	case sp.char: // a quoted character, not a lifetime or an apostrophe
		if len(rest) > 0 && rest[0] == '\\' {
			return true
		}
		_, n := utf8.DecodeRune(rest)
		return bytes.HasPrefix(rest[n:], sp.close)
	case sp.regexp:
		return s.operandExpected() && len(rest) > 0 && rest[0] != ' ' && bytes.IndexByte(rest, '/') > 0
	}
	return true
}

// operandExpected: a slash after one of these begins a regular expression, not a
// division.
func (s *Scanner) operandExpected() bool {
	before := bytes.TrimRight(s.line[:s.at], " \t")
	return len(before) == 0 || bytes.IndexByte([]byte("(,=:[!&|?{};~+*%"), before[len(before)-1]) >= 0 ||
		bytes.HasSuffix(before, []byte("return"))
}

// inside takes the open span up to its end or the line's.
func (s *Scanner) inside(from int) {
	sp := s.open
	if len(sp.close) == 0 { // up to the end of the line
		s.at, s.open = len(s.line), nil
		s.add(from, sp.kind)
		return
	}
	for s.at < len(s.line) {
		switch {
		case sp.escape != 0 && s.line[s.at] == sp.escape:
			s.at = min(s.at+2, len(s.line))
		case bytes.HasPrefix(s.line[s.at:], sp.close):
			s.at += len(sp.close)
			s.open = nil
			s.add(from, s.keyOr(sp.kind))
			return
		default:
			s.at++
		}
	}
	s.add(from, sp.kind)
}

// keyOr is Key where what was just taken is followed by what makes it one.
func (s *Scanner) keyOr(kind Kind) Kind {
	if s.lang.keyMark == 0 || kind == Comment {
		return kind
	}
	rest := bytes.TrimLeft(s.line[s.at:], " \t")
	if len(rest) > 0 && rest[0] == s.lang.keyMark {
		return Key
	}
	return kind
}

// name takes a word and says what it is.
func (s *Scanner) name() {
	from := s.at
	for s.at++; s.at < len(s.line) && (s.isWord(s.line[s.at]) || isDigit(s.line[s.at])); s.at++ {
	}
	if kind := s.keyOr(s.kindOf(s.line[from:s.at])); kind != 0 {
		s.add(from, kind)
	}
}

func (s *Scanner) kindOf(word []byte) Kind {
	if s.lang.foldCase {
		word = bytes.ToLower(word)
	}
	if kind := s.lang.words[string(word)]; kind != 0 {
		return kind
	}
	if s.lang.calls && s.at < len(s.line) && s.line[s.at] == '(' {
		return Call
	}
	if r, _ := utf8.DecodeRune(word); s.lang.types && unicode.IsUpper(r) {
		return Type
	}
	return 0
}

// markup scans HTML and its kin outside of strings and comments.
func (s *Scanner) markup(c byte) {
	switch {
	case c == '<' && s.at+1 < len(s.line) && (isLetter(s.line[s.at+1]) || bytes.IndexByte([]byte("/?!"), s.line[s.at+1]) >= 0):
		s.tag, s.word = true, true
		for s.at++; s.at < len(s.line) && bytes.IndexByte([]byte("/?!"), s.line[s.at]) >= 0; s.at++ {
		}
	case c == '>':
		s.tag = false
		s.at++
	case s.tag && isLetter(c):
		kind := Key
		if s.word {
			kind, s.word = Keyword, false
		}
		s.consume(kind, func(c byte) bool { return isLetter(c) || isDigit(c) || bytes.IndexByte([]byte("-:.@"), c) >= 0 })
	default:
		s.at++
	}
}

// wholeLine takes lines that are one token by how they begin.
func (s *Scanner) wholeLine() bool {
	for _, w := range s.lang.lines {
		if bytes.HasPrefix(s.line, []byte(w.prefix)) {
			s.at = len(s.line)
			s.add(0, w.kind)
			return true
		}
	}
	return false
}

func (s *Scanner) isWord(c byte) bool {
	return isLetter(c) || bytes.IndexByte(s.lang.wordBytes, c) >= 0
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf }
func isNumber(c byte) bool { return isDigit(c) || isLetter(c) && c < utf8.RuneSelf || c == '.' }
