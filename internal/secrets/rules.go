package secrets

import (
	"regexp"
	"strings"
	"sync"
)

// rule finds one kind of secret. Its pattern is tried where a keyword begins. The first group that
// takes part in a match is the secret, the whole match where the pattern has no group.
type rule struct {
	id       string
	keywords []string
	anyCase  bool // the keywords are in lower case and stand for any
	inWord   bool // a keyword may stand behind a letter or a digit
	pattern  string

	// literal decides whether a match is a secret rather than a reference to one; nil = it is.
	literal func(m *match) bool

	compiled func() *regexp.Regexp
}

// match is one match of a rule.
type match struct {
	text       string // the whole
	at         int    // where the keyword begins
	value      string
	start, end int // of the value
}

// rules are in the order in which they give their names where several find the same.
var rules = sync.OnceValue(func() []rule {
	list := table()
	for i := range list {
		pattern := `\A(?:` + list[i].pattern + `)`
		list[i].compiled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	}
	return list
})

// find lists what the rule finds. low is the text in lower case.
func (r *rule) find(text, low string) (list []Finding) {
	if !r.anyCase {
		low = text
	}
	for _, word := range r.keywords {
		for at := 0; ; {
			i := strings.Index(low[at:], word)
			if i < 0 {
				break
			}
			at += i
			m := r.match(text, at)
			if m == nil {
				at += len(word)
				continue
			}
			list = append(list, Finding{r.id, m.start, m.end})
			at = m.end
		}
	}
	return list
}

func (r *rule) match(text string, at int) *match {
	if !r.inWord && at > 0 && isWord(text[at-1]) {
		return nil
	}
	groups := r.compiled().FindStringSubmatchIndex(text[at:])
	if groups == nil {
		return nil
	}
	m := &match{text: text, at: at, start: at, end: at + groups[1]}
	for g := 2; g < len(groups); g += 2 {
		if groups[g] >= 0 {
			m.start, m.end = at+groups[g], at+groups[g+1]
		}
	}
	m.value = text[m.start:m.end]
	if strings.HasPrefix(m.value, maskBegin) || r.literal != nil && !r.literal(m) {
		return nil
	}
	return m
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
