package search

import (
	"regexp"
	"regexp/syntax"
)

// PatternOptions say how a text is a pattern. The zero value means a regular expression.
type PatternOptions struct {
	IgnoreCase bool // upper and lower case are the same
	Fixed      bool // the text itself is looked for
	Word       bool // a match begins and ends at the border of a word
}

// Pattern matches lines.
type Pattern struct {
	re    *regexp.Regexp
	later *regexp.Regexp // the same within a line, where ^ does not match; nil unless words are wanted
}

// ParsePattern reads a regular expression of Go's syntax. As in POSIX, the longest of the leftmost
// matches counts.
func ParsePattern(text string, opt PatternOptions) (*Pattern, error) {
	if opt.Fixed {
		text = regexp.QuoteMeta(text)
	}
	if opt.IgnoreCase {
		text = "(?i)" + text
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	p := &Pattern{}
	if p.re, err = compile(parsed); err != nil || !opt.Word {
		return p, err
	}
	dropBeginning(parsed)
	p.later, err = compile(parsed)
	return p, err
}

func compile(parsed *syntax.Regexp) (*regexp.Regexp, error) {
	re, err := regexp.Compile(parsed.String())
	if err == nil {
		re.Longest()
	}
	return re, err
}

// dropBeginning lets nothing match where an expression asks for the beginning of the text.
func dropBeginning(re *syntax.Regexp) {
	if re.Op == syntax.OpBeginText || re.Op == syntax.OpBeginLine {
		re.Op = syntax.OpNoMatch
	}
	for _, sub := range re.Sub {
		dropBeginning(sub)
	}
}

// Match reports whether a line, without its end, has a match.
func (p *Pattern) Match(line []byte) bool {
	if p.later == nil {
		return p.re.Match(line)
	}
	_, found := p.word(line, 0)
	return found
}

// Spans returns the matches of a line, from left to right: the offsets of the first byte and of the
// byte after the last. As in git, the first match that is empty ends the list.
func (p *Pattern) Spans(line []byte) (spans [][2]int) {
	if p.later == nil {
		for _, at := range p.re.FindAllIndex(line, -1) {
			if at[0] == at[1] {
				break
			}
			spans = append(spans, [2]int{at[0], at[1]})
		}
		return spans
	}
	for at := 0; ; {
		span, found := p.word(line, at)
		if !found {
			return spans
		}
		spans = append(spans, span)
		at = span[1]
	}
}

// word returns the first match from an offset on that begins and ends at the border of a word.
func (p *Pattern) word(line []byte, at int) (span [2]int, found bool) {
	for at < len(line) {
		re := p.later
		if at == 0 {
			re = p.re
		}
		in := re.FindIndex(line[at:])
		if in == nil {
			return span, false
		}
		from, to := at+in[0], at+in[1]
		if from < to && (from == 0 || !isWord(line[from-1])) && (to == len(line) || !isWord(line[to])) {
			return [2]int{from, to}, true
		}
		for at = from + 1; at < len(line) && isWord(line[at-1]); at++ { // to the next border
		}
	}
	return span, false
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
