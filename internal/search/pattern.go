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
	return p.word(line, 0) != nil
}

// FindAllIndex returns where the first n matches of a line are, all if n is below 0, in the form of
// regexp.Regexp.FindAllIndex.
func (p *Pattern) FindAllIndex(line []byte, n int) (all [][]int) {
	if p.later == nil {
		return p.re.FindAllIndex(line, n)
	}
	for found := p.word(line, 0); found != nil && len(all) != n; found = p.word(line, found[1]) {
		all = append(all, found)
	}
	return all
}

// word returns the first match from a place on that begins and ends at the border of a word, nil for
// none.
func (p *Pattern) word(line []byte, at int) []int {
	for at < len(line) {
		re := p.later
		if at == 0 {
			re = p.re
		}
		found := re.FindIndex(line[at:])
		if found == nil {
			return nil
		}
		from, to := at+found[0], at+found[1]
		if from < to && (from == 0 || !isWord(line[from-1])) && (to == len(line) || !isWord(line[to])) {
			return []int{from, to}
		}
		for at = from + 1; at < len(line) && isWord(line[at-1]); at++ { // to the next border
		}
	}
	return nil
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
