package dir

import (
	"runtime"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// spelling returns how the directory spells a name that it was found to have: the name
// itself, but for file systems that take several names for the same. What cannot be told
// counts as spelled so.
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
			other = string(n) // composed differently, or a short name
		}
	}
	if other == "" {
		return name
	}
	return other
}

// hasNoTwin reports whether it is certain, without a listing, that a name is spelled as it
// is: where another case of it is not found, the file system tells them apart. That says
// nothing about accents, which macOS composes, and Windows has short names.
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
