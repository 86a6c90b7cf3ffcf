package syntax

import (
	"path"
	"strings"
)

// Language says how a language looks.
type Language struct {
	Name string // as people call it

	spans     []span          // comments and strings; the first that fits counts
	words     map[string]Kind // its own
	lines     []wholeLine
	keyMark   byte   // what follows a name that is a key; 0 = there are none
	wordBytes []byte // besides letters and digits
	calls     bool   // name( is a call
	types     bool   // a name with a capital letter is a type
	foldCase  bool
	markup    bool // tags in < and >
}

// span is a comment or a string.
type span struct {
	open, close []byte // no close: it ends with the line
	kind        Kind
	escape      byte // makes the next byte count for nothing
	multi       bool // goes on over lines
	atStart     bool // only as the first thing on a line
	afterSpace  bool // only after a blank or at the line's beginning
	char        bool // one character
	regexp      bool // only where an operand may stand
	inTag       bool // only inside a tag
}

type wholeLine struct {
	prefix string
	kind   Kind
}

// For returns the language of a file by its name, or by its first line where that
// says which program runs it. Nil means that it is not known.
func For(name string, firstLine []byte) *Language {
	t := tables()
	base := strings.ToLower(path.Base(name))
	if l := t.byName[base]; l != nil {
		return l
	}
	// The longest extension that is known: of a.d.ts, .d.ts before .ts.
	for rest := base; ; {
		i := strings.IndexByte(rest, '.')
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		if l := t.byExtension[rest]; l != nil {
			return l
		}
	}
	return t.byProgram[programOf(string(firstLine[:min(len(firstLine), 200)]))]
}

// programOf reads a #! line.
func programOf(line string) string {
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return ""
	}
	for field := range strings.FieldsSeq(rest) {
		program := strings.TrimRight(path.Base(field), "0123456789.")
		if program == "env" || strings.HasPrefix(field, "-") {
			continue
		}
		return program
	}
	return ""
}

func lineComment(open string) span { return span{open: []byte(open), kind: Comment} }

func blockComment(open, close string) span {
	return span{open: []byte(open), close: []byte(close), kind: Comment, multi: true}
}

// quoted is a string in which a backslash escapes.
func quoted(quote string) span {
	return span{open: []byte(quote), close: []byte(quote), kind: String, escape: '\\'}
}

func (s span) overLines() span { s.multi = true; return s }
func (s span) raw() span       { s.escape = 0; return s }

var (
	slashes     = lineComment("//")
	stars       = blockComment("/*", "*/")
	double      = quoted(`"`)
	single      = quoted(`'`)
	backtick    = quoted("`").overLines()
	char        = span{open: []byte("'"), close: []byte("'"), kind: String, escape: '\\', char: true}
	pattern     = span{open: []byte("/"), close: []byte("/"), kind: String, escape: '\\', regexp: true}
	hash        = span{open: []byte("#"), kind: Comment, afterSpace: true}
	directive   = span{open: []byte("#"), kind: Keyword, atStart: true}
	threeDouble = quoted(`"""`).overLines()
	threeSingle = quoted(`'''`).overLines()
)

// words makes the table of a language's own words.
func words(keywords, types string) map[string]Kind {
	m := make(map[string]Kind)
	for w := range strings.FieldsSeq(keywords) {
		m[w] = Keyword
	}
	for w := range strings.FieldsSeq(types) {
		m[w] = Type
	}
	return m
}
