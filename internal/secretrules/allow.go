package secretrules

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// allowlist names the texts that are no findings.
type allowlist struct {
	all       bool // every kind of condition that is given must hold, not one of them
	target    string
	regexes   []pattern
	paths     []pattern
	stopwords []string // in lower case
	commits   bool     // names commits, which no file of a directory has
}

// The targets of an allowlist's expressions. The secret itself is the default.
const (
	targetMatch = "match"
	targetLine  = "line"
)

func (t *allowText) compile(trusted bool) (*allowlist, error) {
	a := &allowlist{target: t.RegexTarget, commits: len(t.Commits) > 0}
	switch strings.ToUpper(t.Condition) {
	case "", "OR", "||":
	case "AND", "&&":
		a.all = true
	default:
		return nil, fmt.Errorf("condition %.20q is neither OR nor AND", t.Condition)
	}
	switch t.RegexTarget {
	case "", "secret", targetMatch, targetLine:
	default:
		return nil, fmt.Errorf("regexTarget %.20q is none of secret, match and line", t.RegexTarget)
	}
	if len(t.Regexes)+len(t.Paths)+len(t.StopWords)+len(t.Commits) == 0 {
		return nil, errors.New("want regexes, paths, stopwords or commits")
	}
	for _, list := range []struct {
		from []string
		to   *[]pattern
	}{{t.Regexes, &a.regexes}, {t.Paths, &a.paths}} {
		for _, text := range list.from {
			p, err := newPattern(text, trusted)
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, p)
		}
	}
	for _, word := range t.StopWords {
		a.stopwords = append(a.stopwords, strings.ToLower(word))
	}
	return a, nil
}

// found is a match of a rule.
type found struct {
	secret, match, line []byte
}

// allows reports whether a match in a path is no finding.
func (a *allowlist) allows(path string, f *found) bool {
	held, given := 0, 0
	note := func(has, holds bool) {
		if has {
			given++
		}
		if has && holds {
			held++
		}
	}
	note(a.commits, false)
	note(len(a.paths) > 0, anyMatches(a.paths, []byte(path)))
	note(len(a.regexes) > 0, f != nil && anyMatches(a.regexes, f.targeted(a.target)))
	note(len(a.stopwords) > 0, f != nil && f.hasStopword(a.stopwords))
	return held > 0 && (!a.all || held == given)
}

func anyMatches(list []pattern, text []byte) bool {
	for _, p := range list {
		if re, err := p(); err == nil && re.Match(text) {
			return true
		}
	}
	return false
}

func (f *found) targeted(target string) []byte {
	switch target {
	case targetMatch:
		return f.match
	case targetLine:
		return f.line
	}
	return f.secret
}

func (f *found) hasStopword(list []string) bool {
	low := string(bytes.ToLower(f.secret))
	for _, word := range list {
		if strings.Contains(low, word) {
			return true
		}
	}
	return false
}

// The comments that allow what stands on their line.
var comments = [][]byte{[]byte("gitleaks:allow"), []byte("cairn:allow")}

func (f *found) isAllowedByComment() bool {
	for _, c := range comments {
		if bytes.Contains(f.line, c) {
			return true
		}
	}
	return false
}
