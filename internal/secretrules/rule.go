package secretrules

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// rule is one rule, ready for use.
type rule struct {
	id       string
	regex    pattern  // nil = the rule goes by the path alone
	path     pattern  // nil = every path
	keywords []string // in lower case
	entropy  float64
	group    int
	anchored bool
	inWord   bool
	generic  bool
	allow    []allowlist
}

// Rules are the rules of a file, and the allowlists for all of them. Several goroutines may use them.
type Rules struct {
	rules  []rule
	allow  []allowlist
	words  *words
	users  [][]int // rules by keyword
	always []int   // rules without keywords
	byPath []int   // rules without an expression
}

// compile checks every rule. The expressions of the own rules are compiled when they are first needed:
// a text without keywords needs none.
func (f *ruleFile) compile() (*Rules, error) {
	r := &Rules{}
	var words []string
	for i := range f.Rules {
		one, err := f.Rules[i].compile(f.trusted)
		if err != nil {
			return nil, fmt.Errorf("rule %.80q: %w", f.Rules[i].ID, err)
		}
		switch {
		case one.regex == nil:
			r.byPath = append(r.byPath, i)
		case len(one.keywords) == 0:
			r.always = append(r.always, i)
		}
		for _, word := range one.keywords {
			n := slices.Index(words, word)
			if n < 0 {
				n = len(words)
				words, r.users = append(words, word), append(r.users, nil)
			}
			r.users[n] = append(r.users[n], i)
		}
		r.rules = append(r.rules, *one)
	}
	r.words = newWords(words)
	for _, text := range lists(f.Allowlist, f.Allowlists) {
		list, err := text.compile(f.trusted)
		if err != nil {
			return nil, fmt.Errorf("allowlist: %w", err)
		}
		if len(text.TargetRules) == 0 {
			r.allow = append(r.allow, *list)
			continue
		}
		for i := range r.rules {
			if slices.Contains(text.TargetRules, r.rules[i].id) {
				r.rules[i].allow = append(r.rules[i].allow, *list)
			}
		}
	}
	return r, nil
}

func (t *ruleText) compile(trusted bool) (*rule, error) {
	r := &rule{
		id: t.ID, entropy: t.Entropy, group: t.SecretGroup, anchored: t.Anchored, inWord: t.InWord,
		generic: strings.HasPrefix(t.ID, "generic"),
	}
	switch {
	case t.ID == "" || strings.ContainsFunc(t.ID, func(c rune) bool { return c <= ' ' }):
		return nil, errors.New("want an id without blanks")
	case len(t.Required) > 0:
		return nil, errors.New("required: rules that need other rules are not supported")
	case t.Regex == "" && t.Path == "":
		return nil, errors.New("want a regex or a path")
	case t.Anchored && len(t.Keywords) == 0:
		return nil, errors.New("anchored wants keywords")
	}
	for _, word := range t.Keywords {
		word = strings.ToLower(word)
		if len(word) < minWord {
			r.keywords = nil // too short to be worth a search
			break
		}
		r.keywords = append(r.keywords, word)
	}
	if err := r.setPatterns(t, trusted); err != nil {
		return nil, err
	}
	for _, text := range lists(t.Allowlist, t.Allowlists) {
		list, err := text.compile(trusted)
		if err != nil {
			return nil, fmt.Errorf("allowlist: %w", err)
		}
		r.allow = append(r.allow, *list)
	}
	return r, nil
}

func (r *rule) setPatterns(t *ruleText, trusted bool) (err error) {
	if t.Path != "" {
		if r.path, err = newPattern(t.Path, trusted); err != nil {
			return fmt.Errorf("path: %w", err)
		}
	}
	if t.Regex == "" {
		return nil
	}
	text := t.Regex
	if r.anchored {
		text = `\A(?:` + text + `)`
	}
	if r.regex, err = newPattern(text, trusted); err != nil {
		return fmt.Errorf("regex: %w", err)
	}
	if trusted {
		return nil
	}
	if re, err := r.regex(); err == nil && r.group > re.NumSubexp() {
		return fmt.Errorf("secretGroup %d of %d groups", r.group, re.NumSubexp())
	}
	return nil
}

// pattern returns an expression.
type pattern func() (*regexp.Regexp, error)

// newPattern compiles an expression, one of an own rule when it is first needed: most files need none,
// and a test compiles them all.
func newPattern(text string, trusted bool) (pattern, error) {
	p := pattern(sync.OnceValues(func() (*regexp.Regexp, error) { return regexp.Compile(text) }))
	if trusted {
		return p, nil
	}
	_, err := p()
	return p, err
}

// applies reports whether a rule is for a path.
func (r *rule) applies(path string) bool {
	return r.path == nil || anyMatches([]pattern{r.path}, []byte(path))
}
