package git

import (
	"slices"
	"strings"
)

// matchGlob matches a path or a branch name against the glob pattern of an
// includeIf condition, with the wildcards of gitignore(5): "*" and "?" stop at
// slashes, "**" as a whole component stands for any number of components.
//
// It keeps the set of places in text that the pattern may have reached, so that
// its time is the product of the two lengths whatever the pattern.
func matchGlob(pattern, text string, fold bool) bool {
	at := make([]bool, len(text)+1)
	at[0] = true
	for i := 0; i < len(pattern); {
		move, n := globElement(pattern, i, fold)
		if n == 0 {
			return false
		}
		at = move(at, text)
		i += n
	}
	return at[len(text)]
}

// globMove advances the set of places by one element of a pattern.
type globMove func(at []bool, text string) []bool

// globElement reads the element of the pattern at i; n is its length, 0 if it is
// malformed, in which case nothing matches.
func globElement(pattern string, i int, fold bool) (move globMove, n int) {
	rest := pattern[i:]
	switch rest[0] {
	case '*':
		return globStars(rest, i == 0 || pattern[i-1] == '/')
	case '?':
		return oneByte(func(c byte) bool { return c != '/' }), 1
	case '[':
		class, n := parseClass(rest, fold)
		return oneByte(func(c byte) bool { return c != '/' && class(c) }), n
	case '\\':
		if len(rest) == 1 {
			return nil, 0
		}
		return literal(rest[1], fold), 2
	}
	return literal(rest[0], fold), 1
}

// globStars reads a run of stars; starts tells that a component begins there.
func globStars(rest string, starts bool) (globMove, int) {
	after := strings.TrimLeft(rest, "*")
	n := len(rest) - len(after)
	switch {
	case n < 2 || !starts:
		return withinComponent, n
	case after == "" || strings.HasPrefix(after, `\/`):
		return anything, n
	case after[0] == '/':
		return anyComponents, n + 1
	}
	return withinComponent, n
}

func literal(want byte, fold bool) globMove {
	if !fold {
		return oneByte(func(c byte) bool { return c == want })
	}
	return oneByte(func(c byte) bool { return foldByte(c) == foldByte(want) })
}

func foldByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func oneByte(match func(byte) bool) globMove {
	return func(at []bool, text string) []bool {
		next := make([]bool, len(at))
		for i := range len(text) {
			next[i+1] = at[i] && match(text[i])
		}
		return next
	}
}

// withinComponent is "*".
func withinComponent(at []bool, text string) []bool {
	next := slices.Clone(at)
	for i := range len(text) {
		next[i+1] = next[i+1] || next[i] && text[i] != '/'
	}
	return next
}

// anything is "**" as the last component.
func anything(at []bool, text string) []bool {
	next := slices.Clone(at)
	for i := range len(text) {
		next[i+1] = next[i+1] || next[i]
	}
	return next
}

// anyComponents is "**/": nothing, or all up to some slash.
func anyComponents(at []bool, text string) []bool {
	next := slices.Clone(at)
	reached := false
	for i := range len(text) {
		reached = reached || at[i]
		next[i+1] = next[i+1] || reached && text[i] == '/'
	}
	return next
}

// parseClass reads a bracket expression; n is its length, 0 if it does not end. An
// upper-case byte also stands for its lower-case one when folding, and the reverse.
func parseClass(p string, fold bool) (match func(byte) bool, n int) {
	var set [256]bool
	i := 1
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	for first := true; ; first = false {
		if i >= len(p) {
			return nil, 0
		}
		if p[i] == ']' && !first {
			break
		}
		if i = classItem(p, i, &set); i == 0 {
			return nil, 0
		}
	}
	return func(c byte) bool {
		in := set[c]
		if fold && isAlpha(c) {
			in = in || set[c^0x20]
		}
		return in != negated
	}, i + 1
}

// classItem adds one byte, range or named class to set and returns where it ends,
// 0 if it is malformed.
func classItem(p string, i int, set *[256]bool) int {
	if strings.HasPrefix(p[i:], "[:") {
		name, _, ok := strings.Cut(p[i+2:], ":]")
		member := namedClasses[name]
		if !ok || member == nil {
			return 0
		}
		for c := range 256 {
			set[c] = set[c] || member(byte(c))
		}
		return i + len("[::]") + len(name)
	}
	low, i := classByte(p, i)
	high := low
	if i+1 < len(p) && p[i] == '-' && p[i+1] != ']' {
		high, i = classByte(p, i+1)
	}
	if i > len(p) {
		return 0
	}
	for c := int(low); c <= int(high); c++ {
		set[c] = true
	}
	return i
}

// classByte reads a byte that may be escaped; next is beyond the end of p if it is
// cut off.
func classByte(p string, i int) (c byte, next int) {
	if p[i] == '\\' {
		i++
	}
	if i >= len(p) {
		return 0, len(p) + 1
	}
	return p[i], i + 1
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isGraph(c byte) bool { return '!' <= c && c <= '~' }

var namedClasses = map[string]func(byte) bool{
	"alnum":  func(c byte) bool { return isAlpha(c) || isDigit(c) },
	"alpha":  isAlpha,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  isDigit,
	"graph":  isGraph,
	"lower":  isLower,
	"print":  func(c byte) bool { return c == ' ' || isGraph(c) },
	"punct":  func(c byte) bool { return isGraph(c) && !isAlpha(c) && !isDigit(c) },
	"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
	"upper":  isUpper,
	"xdigit": func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}
