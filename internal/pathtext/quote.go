package pathtext

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Quote prints a path for people, as git does with core.quotePath off. A name with control
// characters, quotes or backslashes is put in double quotes, in C's notation: it stays on its line
// and its end is visible.
func Quote(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '"' || r == '\\' }) < 0 {
		return name
	}
	const letters = "abtnvfr"
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c >= '\a' && c <= '\r':
			b.WriteByte('\\')
			b.WriteByte(letters[c-'\a'])
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Place prints an absolute path of this system for people. Windows takes slashes for its backslashes, which
// Quote would double.
func Place(path string) string { return Quote(filepath.ToSlash(path)) }
