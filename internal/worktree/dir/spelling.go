package dir

import (
	"runtime"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// spelling returns the listed spelling of a name that an lstat has found. It differs from
// name only where the file system resolves several spellings to one file. If the spelling
// is unknown, it is name.
func (h *Handle) spelling(name string, st Info) string {
	if h.hasNoTwin(name) {
		return name
	}
	var l Listing
	if h.List(&l, make([]byte, ListBuffer)) != nil || l.Has(name) {
		return name
	}
	var other string
	for _, n := range l.Names {
		switch now, err := h.Lstat(n); {
		case err != nil || now != st || now.Stat == (index.Stat{}):
		case strings.EqualFold(string(n), name):
			return string(n)
		case other == "":
			other = string(n) // another Unicode normal form, or a short name
		}
	}
	if other == "" {
		return name
	}
	return other
}

// hasNoTwin reports whether name is certain to be its listed spelling, without a listing. A
// file system that does not find the name in another case is case-sensitive. This proves
// nothing for names beyond ASCII, because macOS normalises them, and nothing on Windows,
// which has short names.
func (h *Handle) hasNoTwin(name string) bool {
	twin := []byte(name)
	for i, c := range twin {
		switch {
		case c >= 0x80 || runtime.GOOS == "windows":
			return false
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			twin[i] = c ^ ('a' - 'A')
		}
	}
	if string(twin) == name {
		return true
	}
	_, err := h.Lstat(append(twin, 0)[:len(name)])
	return err != nil && Classify(err) == Gone
}
