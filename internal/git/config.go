package git

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// SyntaxError says where a configuration file is malformed.
type SyntaxError struct {
	File    string
	Line    int
	Problem string
}

// Error returns "file:line: problem".
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
}

// setting is one variable of a configuration file. Its name has git's canonical
// form, section.subsection.key: all in lower case but the quoted subsection.
type setting struct {
	name     string
	value    string
	hasValue bool // false for a key without "=", which is true as a boolean
	line     int
}

// parseConfig calls visit for each variable, in order, up to the first mistake.
// Two things are stricter than git: a NUL is a mistake anywhere outside a comment,
// where git would cut the value off. One is newer than git 2.45: blanks inside an
// unquoted value are kept as they are, where older versions turn tabs into spaces.
func parseConfig(file string, data []byte, visit func(setting)) error {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	p := configParser{data: data, line: 1}
	for p.skipBlank() {
		s, isVariable, problem := p.item()
		if problem != "" {
			return &SyntaxError{File: file, Line: p.mistakeLine(), Problem: problem}
		}
		if isVariable {
			visit(s)
		}
	}
	return nil
}

type configParser struct {
	data    []byte
	pos     int
	line    int    // of pos
	ended   bool   // more was wanted than there is
	section string // with the final dot, as it precedes a key; "" before the first header, which git allows
}

// next takes one byte; ok is false at the end.
func (p *configParser) next() (c byte, ok bool) {
	if p.pos == len(p.data) {
		p.ended = true
		return 0, false
	}
	c = p.data[p.pos]
	p.pos++
	if c == '\n' {
		p.line++
	}
	return c, true
}

// mistakeLine is the line of the last byte that was read. An end of line belongs to the
// line that it ends.
func (p *configParser) mistakeLine() int {
	if !p.ended && p.data[p.pos-1] == '\n' {
		return p.line - 1
	}
	return p.line
}

// back returns the byte that next took last.
func (p *configParser) back() {
	p.pos--
	if p.data[p.pos] == '\n' {
		p.line--
	}
}

// skipBlank passes over white space and comments; false means the end.
func (p *configParser) skipBlank() bool {
	for {
		c, ok := p.next()
		switch {
		case !ok:
			return false
		case isSpace(c):
		case c == '#' || c == ';':
			p.skipLine()
		default:
			p.back()
			return true
		}
	}
}

// skipLine passes over the rest of the line, not its end.
func (p *configParser) skipLine() {
	if i := bytes.IndexByte(p.data[p.pos:], '\n'); i >= 0 {
		p.pos += i
	} else {
		p.pos = len(p.data)
	}
}

// item reads a section header or a variable.
func (p *configParser) item() (s setting, isVariable bool, problem string) {
	c, _ := p.next()
	switch {
	case c == '[':
		return s, false, p.header()
	case !isAlpha(c):
		return s, false, "neither a section nor a variable"
	}
	p.back()
	s, problem = p.variable()
	return s, problem == "", problem
}

// header reads what follows "[".
func (p *configParser) header() (problem string) {
	start := p.pos
	for {
		c, ok := p.next()
		switch {
		case ok && p.pos-1 == start && (c == ']' || isSpace(c)):
			return "section without a name"
		case ok && c == ']':
			p.section = lower(p.data[start:p.pos-1]) + "."
			return ""
		case ok && isSpace(c):
			return p.subsection(lower(p.data[start : p.pos-1]))
		case !ok || !isAlpha(c) && !isDigit(c) && c != '-' && c != '.':
			return "bad section name"
		}
	}
}

// subsection reads what follows "[section ", of which one blank has been read.
func (p *configParser) subsection(section string) (problem string) {
	p.back()
	c, ok := p.next()
	for ok && isSpace(c) && c != '\n' {
		c, ok = p.next()
	}
	if !ok || c != '"' {
		return "bad section name: a subsection is not quoted"
	}
	name, ok := p.quotedName()
	if !ok {
		return "bad subsection name"
	}
	if c, ok = p.next(); !ok || c != ']' {
		return "section header does not end"
	}
	p.section = section + "." + name + "."
	return ""
}

// quotedName reads to the closing quote. A backslash stands for the next byte.
func (p *configParser) quotedName() (string, bool) {
	var name []byte
	for {
		c, ok := p.next()
		if c == '"' {
			return string(name), true
		}
		if ok && c == '\\' {
			c, ok = p.next()
		}
		if !ok || c == '\n' || c == 0 {
			return "", false
		}
		name = append(name, c)
	}
}

// variable reads "key", "key =" or "key = value".
func (p *configParser) variable() (s setting, problem string) {
	start := p.pos
	s.line = p.line
	c, ok := p.next()
	for ok && (isAlpha(c) || isDigit(c) || c == '-') {
		c, ok = p.next()
	}
	end := p.pos
	if ok {
		end--
	}
	s.name = p.section + lower(p.data[start:end])
	for ok && (c == ' ' || c == '\t') {
		c, ok = p.next()
	}
	switch {
	case !ok || c == '\n':
		return s, ""
	case c != '=':
		return s, "bad variable name"
	}
	s.hasValue = true
	s.value, problem = p.value()
	return s, problem
}

// value reads to the end of the line. Blanks at both ends are dropped unless
// quoted; keep is the length up to which they are known not to be at the end.
func (p *configParser) value() (value, problem string) {
	var out []byte
	keep, quoted := 0, false
	for {
		c, ok := p.next()
		switch {
		case !ok || c == '\n':
			if quoted {
				return "", "quote does not end"
			}
			return string(out[:keep]), ""
		case c == 0:
			return "", "NUL in a value"
		case !quoted && isSpace(c):
			if len(out) > 0 {
				out = append(out, c)
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			p.skipLine()
			continue
		case c == '"':
			quoted = !quoted
		case c == '\\':
			if out, problem = p.escape(out); problem != "" {
				return "", problem
			}
		default:
			out = append(out, c)
		}
		keep = len(out)
	}
}

// escape reads what follows a backslash in a value. At the end of a line, or of
// the file, it joins lines and stands for nothing.
func (p *configParser) escape(out []byte) ([]byte, string) {
	c, ok := p.next()
	switch {
	case !ok || c == '\n':
		return out, ""
	case c == 't':
		c = '\t'
	case c == 'n':
		c = '\n'
	case c == 'b':
		c = '\b'
	case c != '"' && c != '\\':
		return out, "unknown escape in a value"
	}
	return append(out, c), ""
}

// isSpace is git's idea of white space: no form feed, no vertical tab.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// lower folds ASCII only, as git does.
func lower(b []byte) string {
	out := bytes.Clone(b)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c | 0x20
		}
	}
	return string(out)
}

var errNotBool = errors.New("not a boolean")

// boolean reads a setting as git does: true, yes, on and no value at all; false,
// no, off and the empty value; or a number, with the units k, m and g.
func (s setting) boolean() (bool, error) {
	if !s.hasValue {
		return true, nil
	}
	switch strings.ToLower(s.value) {
	case "true", "yes", "on":
		return true, nil
	case "", "false", "no", "off":
		return false, nil
	}
	n, err := parseInt(s.value)
	if err != nil {
		return false, fmt.Errorf("%s = %q: %w", s.name, s.value, errNotBool)
	}
	return n != 0, nil
}

// parseInt reads a C integer literal that fits 32 bits with its unit applied.
func parseInt(text string) (int64, error) {
	unit := int64(1)
	if n := len(text); n > 0 {
		switch text[n-1] | 0x20 {
		case 'k':
			unit = 1 << 10
		case 'm':
			unit = 1 << 20
		case 'g':
			unit = 1 << 30
		}
		if unit > 1 {
			text = text[:n-1]
		}
	}
	digits := strings.TrimLeft(strings.TrimLeft(text, " \t\n\v\f\r"), "+-")
	if len(digits) > 1 && digits[0] == '0' && !isDigit(digits[1]) && digits[1]|0x20 != 'x' ||
		strings.IndexByte(digits, '_') >= 0 { // Go's literals, not C's
		return 0, errNotBool
	}
	n, err := strconv.ParseInt(strings.TrimLeft(text, " \t\n\v\f\r"), 0, 32)
	if n *= unit; err != nil || n > math.MaxInt32 || n < -math.MaxInt32 {
		return 0, errNotBool
	}
	return n, nil
}
