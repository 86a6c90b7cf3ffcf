package gittest

import (
	"math/rand/v2"
	"strings"
)

// RandomIgnoreFile makes up the contents of an ignore file, some of whose patterns
// match some of paths. gluedStars is as in RandomOptions.
func RandomIgnoreFile(rng *rand.Rand, paths []string, gluedStars bool) string {
	var b strings.Builder
	if rng.IntN(20) == 0 {
		b.WriteString("\ufeff")
	}
	for range 1 + rng.IntN(6) {
		b.WriteString(randomLine(rng, paths, gluedStars))
		b.WriteString(pick(rng, []string{"\n", "\n", "\n", "\n", "\n", "\r\n", " \n", "\t\n", "\\ \n", "\r\r\n"}))
	}
	if rng.IntN(6) == 0 {
		b.WriteString(randomLine(rng, paths, gluedStars)) // without an end of line
	}
	return b.String()
}

// randomLine is one line of an ignore file.
func randomLine(rng *rand.Rand, paths []string, gluedStars bool) string {
	switch rng.IntN(24) {
	case 0:
		return pick(rng, []string{"", "# comment", "#", " ", "\\#hash", "\\!bang", "!", "!!x", "/", "//", "!/", "\\", "a\\", "[", "[a", "[]", "[!]"})
	case 1:
		return pick(rng, []string{"*", "/*", "!*/", "**", "/**", "**/", "!*", "*/", "*/*", "!/*/"})
	case 2:
		if gluedStars {
			return pick(rng, []string{"***", "a***", "foo**/bar", "**foo/bar", "a/**b", "a**b/c", "/f**/*", "x/***"})
		}
	}
	pattern := randomPattern(rng, paths)
	if rng.IntN(4) == 0 {
		pattern = "!" + pattern
	}
	return pattern
}

// randomPattern is one pattern without negation.
func randomPattern(rng *rand.Rand, paths []string) string {
	var parts []string
	if len(paths) > 0 && rng.IntN(5) > 0 {
		parts = strings.Split(pick(rng, paths), "/")
	} else {
		parts = []string{pick(rng, plainNames)}
	}
	from := rng.IntN(len(parts))
	parts = parts[from : from+1+rng.IntN(len(parts)-from)]
	out := make([]string, len(parts))
	for i, part := range parts {
		out[i] = vary(rng, part)
	}
	pattern := strings.Join(out, "/")
	switch rng.IntN(10) {
	case 0, 1:
		pattern = "/" + pattern
	case 2:
		pattern = "**/" + pattern
	case 3:
		pattern += "/**"
	case 4, 5:
		pattern += "/"
	case 6:
		if len(out) > 1 {
			pattern = out[0] + "/**/" + strings.Join(out[1:], "/")
		}
	}
	return pattern
}

// vary turns a name into a pattern for one path component that may match it.
func vary(rng *rand.Rand, name string) string {
	if strings.ContainsAny(name, "\n\x00") || name == "" {
		return "*"
	}
	i := rng.IntN(len(name))
	switch rng.IntN(9) {
	case 0:
		return "*" + quotePattern(name[i:])
	case 1:
		return quotePattern(name[:i]) + "*"
	case 2:
		return quotePattern(name[:i]) + "?" + quotePattern(name[i+1:])
	case 3:
		class := pick(rng, []string{"[a-z]", "[!a]", "[^a-c]", "[[:alpha:]]", "[[:digit:]x]", "[]a]", "[!]]", `[\a-c]`, "[a-]", "[A-Z]", "[[:upper:]]"})
		return quotePattern(name[:i]) + class + quotePattern(name[i+1:])
	case 4:
		return quotePattern(name[:i]) + "*" + quotePattern(name[min(i+1, len(name)):])
	case 5:
		return name // special bytes and all
	}
	return quotePattern(name)
}

// quotePattern escapes the special characters of a pattern. Escaping more than need be
// makes no difference.
func quotePattern(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if strings.IndexByte("*?[]\\!# ", name[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
