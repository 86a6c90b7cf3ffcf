package webui

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-fb9cbc17/cairn/internal/wording"
)

// visible is a name as it can be read on a page. Bytes that are not UTF-8, control
// characters and characters that reorder text become escapes, so that two different
// names never look alike because of them. Addresses carry the bytes themselves,
// percent-encoded.
func visible(name string) string {
	if utf8.ValidString(name) && strings.IndexFunc(name, misleading) < 0 {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, name[i])
		case misleading(r):
			b.WriteString(escapeRune(r))
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// misleading runes have no shape of their own: control characters, and characters that
// turn the direction of writing, with which one text can look like another.
func misleading(r rune) bool {
	return r < 0x20 || r == 0x7f || r > 0x7f && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029)
}

func escapeRune(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u{%x}`, r)
}

// dirOf and baseOf are the parts of a path as they are shown.
func dirOf(name string) string {
	dir, _ := path.Split(name)
	return visible(dir)
}

func baseOf(name string) string {
	_, base := path.Split(name)
	return visible(base)
}

// short is the beginning of an id. It is long enough to be unique in practice.
func short(id string) string { return id[:min(len(id), 8)] }

// plural is a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + wording.Plural(noun)
}

// grouped is a number with commas.
func grouped[N int | int64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size is a number of bytes for people.
func size(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	return wording.Size(n)
}
