package worktree

import (
	"runtime"
	"strings"

	"github.com/seed-fb9cbc17/cairn/internal/index"
)

// spelling returns how the directory spells a name that it was found to have: the name
// itself, but for file systems that take several names for the same. What cannot be told
// counts as spelled so.
func (h *dirHandle) spelling(name string, st fileStat) string {
	if h.hasNoTwin(name) {
		return name
	}
	var l listing
	if h.list(&l, make([]byte, direntBuffer)) != nil || l.has(name) {
		return name
	}
	var other string
	for _, n := range l.names {
		switch now, err := h.lstat(n); {
		case err != nil || now != st || now.stat == (index.Stat{}):
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
func (h *dirHandle) hasNoTwin(name string) bool {
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
	_, err := h.lstat(append(twin, 0)[:len(name)])
	return err != nil && errKind(err) == failGone
}
