package secrets

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// assignment is the pattern of a value that is assigned to a name, from the word in the name on:
// name=value, name: value, "name": "value", name := 'value'.
func assignment(words string) string {
	return `(?i)(?:` + words + `)(?:[_-]?[0-9]{1,3}|[_-][a-z0-9]{1,20}){0,2}` + "[\"'`]?" + `[ \t]{0,3}(?::=|=>|==|[=:])[ \t]{0,3}` +
		`(?:"([^"\r\n]{4,500})"|'([^'\r\n]{4,500})'|([^\s"'` + "`" + `,;<>(){}\[\]&|]{4,500}))`
}

// option is the pattern of a value behind an option of a command, from the hyphen before its last
// word on.
func option(words string) string {
	return `(?i)(?:` + words + `)\s{1,3}["']?([^\s"']{6,500})`
}

// nameAndSep are the name to which a match assigns, with what stands before the keyword, and what
// stands between the name and the value.
func (m *match) nameAndSep() (name, sep string) {
	const maxBefore = 60
	from, to := m.at, m.at
	for from > max(0, m.at-maxBefore) && inName(m.text[from-1]) {
		from--
	}
	for to < m.start && inName(m.text[to]) {
		to++
	}
	return m.text[from:to], strings.Trim(m.text[to:m.start], "\"'`")
}

func inName(c byte) bool { return isWord(c) || c == '-' || c == '.' }

var (
	// about are endings of names whose values tell something about a secret.
	about = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)[_-](?:id|count|type|ur[il]|endpoint|name|file|path|dir|len|length|limit|max|min|field|expiry|expires|ttl|age|policy|hint|column|label|env|var|header|prefix|suffix|regex|pattern|ref|class|format|version|algorithm|alg|size|index|budget|usage)$`)
	})

	// holding are the words before "key" that make a name that of a secret.
	holding = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:api|access|auth|account|private|secret|client|encryption|signing|master|license)[_-]?$`)
	})

	// placeholders are values that stand for no secret, or for one that is elsewhere.
	placeholders = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:[$%<{*@\[\\]|(?:none|null|nil|true|false|undefined|string|str|number|bool|boolean|bytes|optional|required)$|(?:your|enter)[_ -])|\.\.\.|…|x{4}|\*{3}|\$\{|\{\{|<[a-z]`)
	})

	// field matches a field of something, in source code.
	field = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]+(?:\.[A-Za-z_]+)+$`) })
)

func isAssignedKey(m *match) bool {
	const longest = 12
	return holding().MatchString(m.text[max(0, m.at-longest):m.at]) && isAssigned(m)
}

// isAssigned decides whether a value that is assigned is a literal. In source code, most are names of
// other variables, calls, types or placeholders.
func isAssigned(m *match) bool {
	name, sep := m.nameAndSep()
	ofPassword := strings.Contains(lower(name), "pass") || strings.Contains(lower(name), "pwd")
	switch {
	case about().MatchString(name), !notPlaceholder(m), strings.Contains(sep, "=="), isLocation(m.value), refersTo(m.value, name):
		return false
	case strings.ContainsRune(`"'`, rune(m.text[m.start-1])):
		return ofPassword || !strings.ContainsFunc(m.value, unicode.IsSpace)
	case isReference(m):
		return false
	case isNumber(m.value):
		return ofPassword
	case sep == "=":
		return true
	}
	return isMixed(m)
}

func notPlaceholder(m *match) bool { return !placeholders().MatchString(m.value) }

// isLocation reports whether a value is a path or an address. A password in an address has a rule
// of its own.
func isLocation(value string) bool {
	return strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./") || strings.HasPrefix(value, "~/") || strings.Contains(value, "://")
}

// refersTo reports whether a value is made from the name that it is assigned to, as in
// token=auth_token.
func refersTo(value, name string) bool {
	plain := func(s string) string { return lower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(s)) }
	v, n := plain(value), plain(name)
	return n != "" && (strings.Contains(v, n) || strings.Contains(n, v))
}

// isReference reports whether a bare value is a call, an element or a field of something.
func isReference(m *match) bool {
	after := m.text[m.end:]
	return field().MatchString(m.value) || strings.HasPrefix(after, "(") || strings.HasPrefix(after, "[")
}

func isNumber(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// minMixed is the length of a value below which letters and digits may be a word of a sentence.
const minMixed = 6

// isMixed reports whether a value that stands apart from its name cannot be a word: it has digits, or
// signs that no name has, among its letters.
func isMixed(m *match) bool {
	letters, others := false, false
	for _, r := range strings.TrimRight(m.value, ".:!?") {
		letters = letters || unicode.IsLetter(r)
		others = others || unicode.IsDigit(r) || strings.ContainsRune("!@#%^*+=/~?", r)
	}
	return letters && others && len(m.value) >= minMixed && notPlaceholder(m) && !isLocation(m.value) && !isReference(m)
}
